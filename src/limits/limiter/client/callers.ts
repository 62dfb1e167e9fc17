import { sharedByEqualCopies } from "../../../base/copies.ts";
import { CALLER_LIFE_MS, MAX_CALLERS } from "../../../generated/layouts/limiter.ts";
import { processesScript } from "../../../generated/scripts/limiter.ts";
import type { Operation, Store } from "../../../store/contract.ts";
import { textBytes } from "../../../store/memory/heap-bytes.ts";
import { processId } from "../../../store/registry/announcer.ts";
import { callersKeyOf } from "../steps/decide.ts";

/** A process that calls is noted once in this time, in ms. At first it is noted again sooner, because others may start with it. */
const PERIOD_MS = 30_000;
const FIRST_PERIOD_MS = 1000;
/** Limiters of one store whose counts outlive them. */
const MAX_NAMES = 1000;

/** Notes a process, and counts those that use the limiter. lua/limiter/processes.lua states the rules. */
export const noteCaller: Operation<string, number> = {
  name: "limiter/processes",
  script: processesScript,
  arity: 1,
  keyCount: 1,
  repeatable: true,
  encode: (id) => [id],
  decode: (reply) => Number(new TextDecoder().decode(reply)),
  local(keys, key, id, nowMs) {
    const stored = keys.get(key) ?? new Map<string, number>();
    if (!(stored instanceof Map)) throw new TypeError("it is not a table of processes");
    const counts = ([other, ms]: [string, number]) => other !== id && ms > nowMs - CALLER_LIFE_MS && ms <= nowMs;
    const all: [string, number][] = [...[...(stored as Map<string, number>)].filter(counts), [id, nowMs]];
    const order = ([a, aMs]: [string, number], [b, bMs]: [string, number]) => aMs - bMs || (a < b ? -1 : 1);
    if (all.length > MAX_CALLERS) all.sort(order).shift();
    const bytes = all.reduce((sum, [one]) => sum + textBytes(one) + 16, 0);
    keys.set(key, new Map(all), bytes, nowMs + CALLER_LIFE_MS);
    return all.length;
  },
};

/** The processes that use a limiter. */
export class Callers {
  readonly #store: Store;
  readonly #key: string;
  #nextMs = Number.NEGATIVE_INFINITY;
  #periodMs = FIRST_PERIOD_MS;
  /** Answers of the last CALLER_LIFE_MS, each larger than all later ones. */
  #answers: { count: number; atMs: number }[] = [];

  constructor(store: Store, name: string) {
    this.#store = store;
    this.#key = callersKeyOf(store, name);
  }

  /** Notes this process with a call, if it is due. Nothing waits for it, and a failure leaves the last count. */
  note(): void {
    const nowMs = this.#store.monotonic();
    if (nowMs < this.#nextMs) return;
    this.#nextMs = nowMs + this.#periodMs;
    this.#periodMs = Math.min(2 * this.#periodMs, PERIOD_MS);
    this.#store.run(noteCaller, this.#key, processId()).then(
      (count) => this.#answered(count),
      () => {},
    );
  }

  /** Processes that called lately, at least 1. A store that has lost its data forgets them, so a larger number counts as long. */
  get count(): number {
    return this.#answers[0]?.count ?? 1;
  }

  #answered(count: number): void {
    const atMs = this.#store.monotonic();
    const larger = this.#answers.filter((one) => one.count > count && one.atMs > atMs - CALLER_LIFE_MS);
    this.#answers = [...larger, { count, atMs }];
  }
}

const known = sharedByEqualCopies("limiters' processes", () => new WeakMap<Store, Map<string, Callers>>());

/** Those of one name are shared, because a program may make a limiter for each call. */
export function callersOf(store: Store, name: string): Callers {
  const byName = known.get(store) ?? new Map<string, Callers>();
  known.set(store, byName);
  const callers = byName.get(name) ?? new Callers(store, name);
  if (byName.size >= MAX_NAMES) byName.clear();
  byName.set(name, callers);
  return callers;
}
