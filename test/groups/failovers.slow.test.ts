import fc from "fast-check";
import type { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { groupsKey } from "../../src/engine/groups/dictionary.ts";
import { GroupNames } from "../../src/engine/groups/group-names.ts";
import { appendInGroups, REGROUPED } from "../../src/engine/groups/steps/append-in-groups.ts";
import { STATUS } from "../../src/engine/journal/format/answer.ts";
import { HEADER_BYTES, readHeader } from "../../src/engine/journal/format/chunk.ts";
import { encodeFrame, noParts, readFrame } from "../../src/engine/journal/format/frames.ts";
import { rotate } from "../../src/engine/journal/steps/rotate.ts";
import type { Store } from "../../src/store/contract.ts";
import { type OpenStore, onRedis, START_MS } from "../harness/clock/stepped-stores.ts";
import { runs } from "../harness/runs.ts";
import { FIRST_CHUNK_AT, groupsIn } from "./dictionaries.ts";
import { restoreKeys, type Saved, savedKeys } from "./redis-copies.ts";

let opened: OpenStore;
let redis: Redis;
beforeAll(async () => {
  opened = await onRedis();
  redis = opened.client as Redis;
});
afterAll(() => opened.close());

const KEY = "oriel:{s}";
const LABELS = ["a", "b", "c", "d", "e", "f"];
/** An event: which one it is, its number, and which label its process meant. */
const WEIGHT = 100;
const EVENT_WEIGHT = 1e6;

const process = fc.nat(2);
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant("record" as const), process, label: fc.nat(LABELS.length - 1) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("refresh" as const), process }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("save" as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("failover" as const), back: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("copy" as const), back: fc.nat(6) }) },
  fc.record({ kind: fc.constant("lose" as const) }),
  fc.record({ kind: fc.constant("close" as const), process }),
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("wait" as const), ms: fc.constantFrom(1, 1000, -500) }) },
);

/** A process that gives its groups numbers and appends events. */
class Writer {
  readonly names: GroupNames;
  readonly #store: Store;
  readonly #producer: number;
  #drawn: number;

  constructor(store: Store, producer: number) {
    this.#store = store;
    this.#producer = producer;
    this.#drawn = producer * 1e6;
    const entropy = () => ++this.#drawn;
    this.names = new GroupNames(store, KEY, {
      ...{ labels: ["label"], maxGroups: 1000, retentionMs: 60_000, entropy, onFull: () => {} },
    });
  }

  /** Returns the statuses of its appends. The last one is that of `value`. */
  async record(label: number, nowMs: number): Promise<{ statuses: number[]; value: number }> {
    const statuses: number[] = [];
    for (;;) {
      const number = this.names.numberOf([LABELS[label]!]);
      if (number === undefined) {
        await this.names.add([[LABELS[label]!]]);
        continue;
      }
      const value = ++this.#drawn * EVENT_WEIGHT + number * WEIGHT + label;
      const frames = [encodeFrame(this.#producer, this.#drawn, Float64Array.of(value))];
      frames[0]!.bytes[0]! |= 4;
      const answer = await this.#store.run(appendInGroups, KEY, {
        ...{ valueType: 5, clock: 0, retentionMs: 60_000, voidAfterMs: nowMs + 10_000, birth: ++this.#drawn },
        ...{ frames, known: "none", guard: this.names.known },
      });
      statuses.push(answer.status);
      if (answer.status === STATUS.done || answer.status === STATUS.void) return { statuses, value };
      if (answer.status === REGROUPED) await this.names.refresh();
      else await this.close();
    }
  }

  async close(): Promise<void> {
    const open = await redis.getBuffer(KEY);
    if (!open) return;
    const { number, birth } = readHeader(open);
    await this.#store.run(rotate, KEY, { number, birth, nextBirth: ++this.#drawn });
  }
}

async function firstChunk(): Promise<number> {
  return (await redis.getBuffer(groupsKey(KEY)))!.readDoubleLE(FIRST_CHUNK_AT);
}

/** The events of all chunks whose numbers the dictionary explains. */
async function explained(firstChunk: number): Promise<number[]> {
  const chunks = (await savedKeys(redis)).filter(([key]) => key !== groupsKey(KEY)).map(([, bytes]) => bytes);
  return chunks.flatMap((bytes) => {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const values: number[] = [];
    if (readHeader(bytes).number < firstChunk) return values;
    const parts = noParts();
    for (let at = HEADER_BYTES; readFrame(view, at, 5, parts) === "whole"; at += parts.size)
      values.push(view.getFloat64(parts.valuesAt, true));
    return values;
  });
}

test("after failovers, losses and late copies, each event has the label that its process meant", async () => {
  const met = new Set<number>();
  let checked = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60 }), async (steps) => {
      await opened.clear();
      opened.clock.nowMs = START_MS;
      const sent: (() => Promise<unknown>)[] = [];
      const store: Store = {
        ...opened.store,
        run(operation, key, input, options) {
          sent.unshift(() => opened.store.run(operation, key, input));
          return opened.store.run(operation, key, input, options);
        },
      };
      const writers = [1, 2, 3].map((producer) => new Writer(store, producer));
      const saves: Saved[] = [[]];
      for (const one of steps) {
        switch (one.kind) {
          case "record": {
            const { statuses, value } = await writers[one.process]!.record(one.label, opened.clock.nowMs);
            for (const status of statuses) met.add(status);
            if (statuses.at(-1) === STATUS.done) expect(await explained(await firstChunk())).toContain(value);
            break;
          }
          case "refresh":
            await writers[one.process]!.names.refresh();
            break;
          case "save":
            saves.unshift(await savedKeys(redis));
            break;
          case "failover": {
            const found = saves[Math.min(one.back, saves.length - 1)]!;
            saves.splice(0, saves.indexOf(found));
            await restoreKeys(redis, found);
            break;
          }
          case "copy":
            await sent[one.back]?.();
            break;
          case "lose":
            await redis.del(groupsKey(KEY));
            break;
          case "close":
            await writers[one.process]!.close();
            break;
          case "wait":
            opened.clock.nowMs += one.ms;
        }
        const bytes = await redis.getBuffer(groupsKey(KEY));
        const groups = bytes ? groupsIn(bytes) : [];
        expect(new Set(groups.flat()).size).toBe(groups.length);
        if (!bytes) continue;
        for (const event of await explained(await firstChunk())) {
          const value = event % EVENT_WEIGHT;
          checked++;
          expect(groups[Math.floor(value / WEIGHT) - 1]).toEqual([LABELS[value % WEIGHT]]);
        }
      }
      for (const { names } of writers) {
        await names.refresh();
        const bytes = await redis.getBuffer(groupsKey(KEY));
        expect(names.groups.count).toBe(bytes ? groupsIn(bytes).length : 0);
      }
    }),
    { numRuns: runs(200) },
  );
  expect(checked).toBeGreaterThan(1000);
  expect([...met].sort()).toEqual(expect.arrayContaining([STATUS.done, STATUS.old, REGROUPED]));
});
