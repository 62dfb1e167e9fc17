import {
  concurrency,
  DelayQueue,
  fixedWindow,
  gcra,
  Limiter,
  Lock,
  LockedWindow,
  type Policy,
  slidingWindow,
} from "../../../src/entries/index.ts";
import { PROCESS_LENGTH, TOKEN_LENGTH } from "../../../src/generated/layouts/hold.ts";
import { lockKeyOf } from "../../../src/holds/lock/lock-state.ts";
import { take } from "../../../src/holds/steps/steps.ts";
import type { MemoryStore } from "../../../src/store/memory/memory.ts";

interface Stage {
  store: MemoryStore;
  clock: { nowMs: number };
}

/** The repeated write, by its number, until the store is full or the number of calls is reached. */
type Write = (i: number) => Promise<unknown>;
export type Shape = [what: string, writesOn: (stage: Stage) => Write, maxCalls?: number];

/** A new text that shares no memory with another. */
export const textOf = (i: number, length: number, wide = ""): string =>
  Buffer.from(`${i} ${wide}`.padEnd(length, "x")).toString("utf8");
/** A piece of a text of 4000 characters, as of a header that a client sent. */
export const pieceOf = (i: number): string => textOf(i, 4000).slice(0, 20);

const limiter =
  (policy: Policy, idOf: (i: number) => string, options: object = {}) =>
  ({ store }: Stage): Write => {
    const limiter = new Limiter(store, [policy], { name: "api" });
    return (i) => limiter.take(idOf(i), options);
  };
const address = (i: number) => `10.0.${i}`;
const FIXED = fixedWindow({ limit: 10, span: "1h" });

export const LIMITERS: Shape[] = [
  ["fixed windows", limiter(FIXED, address)],
  ["long ids", limiter(FIXED, (i) => textOf(i, 3000))],
  ["long ids of two bytes a character", limiter(FIXED, (i) => textOf(i, 2000, "\u0431"))],
  ["ids that are pieces of long texts", limiter(FIXED, pieceOf)],
  ["GCRA", limiter(gcra({ limit: 10, span: "1h" }), address)],
  ["sliding windows", limiter(slidingWindow({ limit: 10, span: "1h" }), address)],
  [
    "sliding windows that grow by a ms at a time",
    ({ store, clock }) => {
      const limiter = new Limiter(store, [slidingWindow({ limit: 1e9, span: "1h" })], { name: "api" });
      return (i) => {
        clock.nowMs++;
        return limiter.take(`${i % 20}`);
      };
    },
    60_000,
  ],
  [
    "sliding windows that move on",
    ({ store, clock }) => {
      const limiter = new Limiter(store, [slidingWindow({ limit: 1e9, span: 9000 })], { name: "api" });
      return (i) => {
        clock.nowMs += i % 10 === 0 ? 1 : 0;
        return limiter.take(`${i % 10}`);
      };
    },
    60_000,
  ],
  ["concurrency", limiter(concurrency({ limit: 10, lease: "1h" }), address)],
  ["permits of few ids", limiter(concurrency({ limit: 10_000, lease: "1h" }), (i) => `${i >> 8}`)],
  [
    "reservations",
    ({ store }) => {
      const limiter = new Limiter(store, [fixedWindow({ limit: 1e9, span: "1h" })], { name: "api" });
      return (i) => limiter.reserve(`${i >> 6}`, { cost: 1, lease: "1h" });
    },
  ],
  [
    "requests with ids",
    ({ store }) => {
      const limiter = new Limiter(store, [fixedWindow({ limit: 1e9, span: "1h" })], { name: "api" });
      return (i) => limiter.take(`${i % 100}`, { requestId: textOf(i, 36) });
    },
  ],
  [
    "ids that expire",
    ({ store, clock }) => {
      const limiter = new Limiter(store, [fixedWindow({ limit: 10, span: "10s" })], { name: "api" });
      return (i) => {
        clock.nowMs += 8;
        return limiter.take(address(i));
      };
    },
    20_000,
  ],
];

export const LOCKS: Shape[] = [
  [
    "locks",
    ({ store }) =>
      (i) =>
        new Lock(store, `job ${i}`).tryLock({ lease: "1h" }),
  ],
  [
    "locks for which many processes wait",
    ({ store, clock }) => {
      clock.nowMs = Date.UTC(2100, 0, 1);
      return (i) => {
        const key = lockKeyOf(store, `job ${i >> 7}`);
        const process = `${i}`.padStart(PROCESS_LENGTH, "0");
        const tickets = [{ token: textOf(i, TOKEN_LENGTH), permits: 1, limit: 1, leaseMs: 3.6e6 }];
        return store.run(take, key, { process, tickets, mayWait: true, isGuess: false });
      };
    },
    20_000,
  ],
  [
    "locked windows",
    ({ store }) => {
      const window = (i: number) =>
        new LockedWindow(store, `w${i}`, { span: "1h", statistics: { length: (all: Float32Array) => all.length } });
      return (i) => window(i).addAndGetStats(1);
    },
  ],
  [
    "locked windows of many values",
    ({ store }) => {
      const statistics = { length: (all: Float32Array) => all.length };
      const all = Array.from({ length: 20 }, (_, i) => new LockedWindow(store, `w${i}`, { span: "1h", statistics }));
      return (i) => all[i % 20]!.addAndGetStats(i);
    },
    8000,
  ],
];

const queueOf = ({ store }: Stage) => new DelayQueue<unknown>(store, "jobs", { shards: 2 });
export const QUEUES: Shape[] = [
  [
    "small messages",
    (stage) =>
      (
        (queue) => (i) =>
          queue.add({ i })
      )(queueOf(stage)),
  ],
  [
    "ids of the caller",
    (stage) =>
      (
        (queue) => (i) =>
          queue.add(1, { id: textOf(i, 100) })
      )(queueOf(stage)),
  ],
  [
    "ids of two bytes a character",
    (stage) =>
      (
        (queue) => (i) =>
          queue.add(1, { id: textOf(i, 150, "\u0431") })
      )(queueOf(stage)),
  ],
  [
    "large messages",
    (stage) =>
      (
        (queue) => (i) =>
          queue.add(new Uint8Array(50_000), { id: `${i}` })
      )(queueOf(stage)),
  ],
  [
    "messages that fail for long reasons",
    (stage) => {
      const queue = queueOf(stage);
      return async (i) => {
        await queue.add(i);
        const [claimed] = await queue.claim({ limit: 1, visibility: "1h" });
        if (claimed) await queue.nack(claimed, { error: new Error(textOf(i, 9000, "\u0431")), delay: "1h" });
      };
    },
  ],
  [
    "messages that were done",
    (stage) => {
      const queue = queueOf(stage);
      return async (i) => {
        await queue.add(i, { id: textOf(i, 60) });
        for (const each of await queue.claim({ limit: 10, visibility: "1h" })) await queue.ack(each);
      };
    },
    2500,
  ],
  [
    "messages of which most were cancelled",
    (stage) => {
      const queue = queueOf(stage);
      return async (i) => {
        await queue.add(i, { id: `${i}` });
        if (i >= 1000 && (i - 1000) % 300 > 0) await queue.cancel(`${i - 1000}`);
      };
    },
    8000,
  ],
];
