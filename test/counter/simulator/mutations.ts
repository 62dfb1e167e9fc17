import { Producer } from "../../../src/counters/counter/cells/producer.ts";
import { UnconfirmedBatches } from "../../../src/counters/counter/cells/unconfirmed-batches.ts";
import type { failoverTimes } from "../../../src/counters/counter/format/layout.ts";
import type { Shard } from "../../../src/counters/counter/steps/shard.ts";
import type { Keyspace } from "../../../src/store/contract.ts";
import { CALM } from "../../simulator/world/network.ts";
import type { Plan } from "./plan.ts";

type Local = (keys: Keyspace, key: string, input: never, nowMs: number) => unknown;

/** A rule taken out of the code under test, or of the drainer. */
export interface Mutation {
  /** The rule, and what is done instead. */
  readonly rule: string;
  /** Conditions in which the rule is needed soon. */
  readonly conditions?: Partial<Plan>;
  readonly constants?: Partial<typeof failoverTimes>;
  readonly forgottenAfterMs?: number;
  readonly step?: { readonly name: string; readonly local: (real: Local) => Local };
  /** Anything else; returns how to put it back. */
  readonly patch?: () => () => void;
}

const shardOf = (keys: Keyspace, key: string) => keys.get(key) as Shard | undefined;

function patched<T extends object>(target: T, methods: Partial<T>): () => void {
  const usual = Object.fromEntries(Object.keys(methods).map((name) => [name, target[name as keyof T]]));
  Object.assign(target, methods);
  return () => void Object.assign(target, usual);
}

const bad = { ...CALM, lostReply: 0.3, slow: 0.1, slowMs: 300 };
const short = { isLong: false, durationMs: 60_000 };
const failing = { ...short, weather: CALM, failovers: 8, replicas: 0, kills: 0, ownerCount: 0, drainerCount: 0 };
const hours = { isLong: true, durationMs: 18_000_000, weather: CALM, ownerCount: 0, failovers: 0 };
const drained = {
  ...short,
  weather: CALM,
  drainerCount: 2,
  isWaiting: false,
  failovers: 12,
  paceMs: 400,
  ownerCount: 0,
};

export const MUTATIONS: readonly Mutation[] = [
  {
    rule: "a batch counts only where its mark stands before it: wherever it stands",
    conditions: { ...short, weather: bad },
    step: {
      name: "counter/add",
      local: (real) => (keys, key, input: { mark: string; before: string }, nowMs) => {
        const before = input.before === "?" ? "?" : (shardOf(keys, key)?.get(input.mark) ?? "");
        return real(keys, key, { ...input, before } as never, nowMs);
      },
    },
  },
  {
    rule: "what was acknowledged is kept for a while: it is not",
    conditions: failing,
    patch: () => patched(UnconfirmedBatches.prototype, { keep() {} }),
  },
  {
    rule: "it is kept for 10 s: for none",
    conditions: { ...failing, paceMs: 400 },
    constants: { keptMs: 0 },
  },
  {
    rule: "who falls silent looks once more: nobody does",
    conditions: failing,
    patch: () => patched(Producer.prototype, { check: () => Promise.resolve() }),
  },
  {
    rule: "what is given again is young again: it keeps its age",
    conditions: { ...failing, failovers: 40 },
    patch: () => {
      const { keep, after } = UnconfirmedBatches.prototype;
      const ages = new WeakMap<object, number>();
      return patched(UnconfirmedBatches.prototype, {
        after(...call) {
          const reported = after.apply(this, call);
          for (const one of reported.held) ages.set(one, 0);
          return reported;
        },
        keep(batch, sentAtMs, answeredAtMs) {
          keep.call(this, batch, sentAtMs, ages.get(batch) ?? answeredAtMs);
        },
      });
    },
  },
  {
    rule: "marks are forgotten after an hour: at once",
    conditions: { ...short, weather: bad, drainerCount: 2, isWaiting: true, failovers: 0 },
    forgottenAfterMs: 0,
  },
  {
    rule: "who was silent for 20 minutes takes a new mark: keeps the old one",
    conditions: {
      ...hours,
      weather: { ...bad, lostReply: 0 },
      drainerCount: 2,
      partitions: 10,
      kills: 0,
      paceMs: 900_000,
    },
    constants: { longestSilenceMs: 1e12 },
  },
  {
    rule: "each freezing has a nonce of its own: all have the same",
    conditions: drained,
    step: {
      name: "counter/freeze",
      local: (real) => (keys, key, input: object) => real(keys, key, { ...input, nonce: "x" } as never, 0),
    },
  },
  {
    rule: "one generation is frozen at a time: another one although it was not acknowledged",
    conditions: { ...drained, failovers: 0, isWaiting: true },
    step: {
      name: "counter/freeze",
      local: (real) => (keys, key, input, nowMs) => {
        const shard = shardOf(keys, key);
        const current = shard?.number("@cur", 1) ?? 1;
        if (shard && current > shard.number("@ack", 0) + 1) shard.set("@ack", `${current - 1}`);
        return real(keys, key, input, nowMs);
      },
    },
  },
  {
    rule: "an acknowledgement forgets the sum of its own generation: of the one that is being filled too",
    conditions: { ...drained, failovers: 0, isWaiting: true },
    step: {
      name: "counter/acknowledge",
      local: (real) => (keys, key, input: { generation: number }, nowMs) => {
        const answer = real(keys, key, input as never, nowMs);
        const shard = shardOf(keys, key);
        if (answer && shard && shard.number("@cur", 1) === shard.number("@ack", 0) + 1)
          shard.delete(`@n:${shard.number("@cur", 1)}`);
        return answer;
      },
    },
  },
  {
    rule: "what is swept was acknowledged: whatever is named",
    conditions: { ...drained, isWaiting: true, failovers: 40, paceMs: 100 },
    step: {
      name: "counter/sweep",
      local:
        () =>
        (keys, key, { fields }: { fields: string[] }) => {
          const shard = shardOf(keys, key);
          if (!shard) return 0;
          keys.set(key, shard, 0, Number.POSITIVE_INFINITY);
          return fields.filter((field, i) => i % 2 === 0 && shard.delete(field)).length;
        },
    },
  },
];
