import { describe, expect, test } from "vitest";
import { DoNotRetryError, type Job, OrielError } from "../../../src/entries/index.ts";
import type { Store } from "../../../src/store/contract.ts";
import type { OpenStore } from "../../harness/clock/stepped-stores.ts";
import { staged } from "./suite.ts";
import { eventsOf, fill, Gate } from "./suite-work.ts";

/** How handlers end that listen to their signal, and the events of that. */
const ENDS: [what: string, end: (job: Job<unknown>) => unknown, events: string[], state: object | undefined][] = [
  ["throws the reason", ({ signal }) => signal.throwIfAborted(), ["lost"], { attempt: 0, state: "waiting" }],
  [
    "throws an error with the reason as its cause",
    ({ signal }) => Promise.reject(new Error("query", { cause: signal.reason })),
    ["lost"],
    { attempt: 0, state: "waiting" },
  ],
  [
    "throws an AbortError of its own",
    () => Promise.reject(new DOMException("aborted", "AbortError")),
    ["lost"],
    { attempt: 0, state: "waiting" },
  ],
  [
    "throws another error",
    () => Promise.reject(new Error("busy")),
    ["failed", "retry"],
    { attempt: 1, state: "waiting", lastError: "Error: busy" },
  ],
  [
    "throws DoNotRetryError with the reason as its cause",
    ({ signal }) => Promise.reject(new DoNotRetryError("half done", { cause: signal.reason })),
    ["failed", "dead"],
    { attempt: 1, state: "dead", lastError: "DoNotRetryError: half done" },
  ],
  ["returns", () => undefined, ["completed"], undefined],
  ["returns to come again", (job) => job.again({ delay: "1h" }), ["again"], { attempt: 0, state: "waiting" }],
];

/** `close({ within })` ends, over one store. */
export function closeSuite(name: string, open: () => Promise<OpenStore>): void {
  describe(`close, ${name}`, () => {
    const stage = staged(open);

    test("handlers that ignore their signal: their messages are given back and named when the time is over", async () => {
      const queue = stage().queue({ attempts: 1 });
      const gate = new Gate();
      const worker = stage().worker(queue, gate.handler, { concurrency: 2, prefetch: 2, visibility: 1000 });
      const events = eventsOf(worker);
      await fill(queue, 6);
      await stage().advance(10_000);
      const startMs = stage().nowMs;
      let endedAtMs = 0;
      const { signal } = gate.running[0]!;
      const closing = worker.close({ within: "5s" }).then((unfinished) => {
        endedAtMs = stage().nowMs;
        return unfinished;
      });
      for (const each of [signal, gate.running[1]!.signal]) {
        expect(each.aborted).toBe(true);
        expect(each.reason).toMatchObject({ name: "AbortError" });
      }
      await stage().advance(4000);
      expect(endedAtMs).toBe(0);
      expect(await queue.counts()).toMatchObject({ claimed: 2, due: 4 });
      const unfinished = await stage().awaiting(closing);
      expect(unfinished.map(({ id, attempt }) => [id, attempt])).toEqual([
        ["0", 1],
        ["1", 1],
      ]);
      for (const { durationMs } of unfinished) expect(Math.round(durationMs / 100)).toBe(150);
      expect(endedAtMs - startMs).toBeGreaterThanOrEqual(4999);
      expect(gate.payloads).toEqual([0, 1]);
      expect(events).toEqual(["0", "1"].map((id) => ["lost", { id, attempt: 1 }]));
      expect((await queue.claim({ limit: 10 })).map(({ id, attempt }) => [id, attempt]).sort()).toEqual(
        ["0", "1", "2", "3", "4", "5"].map((id) => [id, 1]),
      );
      expect(() => gate.running[0]!.again({ delay: 5 })).toThrow("given back");
      gate.end(0);
      gate.end(1, new Error("too late"));
      const calls = stage().calls.length;
      await stage().advance(60_000);
      expect(stage().calls).toHaveLength(calls);
      expect(events).toHaveLength(2);
      expect(stage().timers.count).toBe(0);
    });

    test.each(ENDS)("a handler that listens to its signal and %s ends at once", async (_what, end, ends, state) => {
      const queue = stage().queue();
      const worker = stage().worker(queue, async (job) => {
        await new Promise((resolve) => job.signal.addEventListener("abort", resolve));
        return end(job);
      });
      const events = eventsOf(worker);
      await fill(queue, 1);
      await stage().settle();
      const startMs = stage().nowMs;
      expect(await stage().awaiting(worker.close({ within: "1h" }))).toEqual([]);
      expect(stage().nowMs - startMs).toBeLessThan(1000);
      expect(events.map(([name]) => name)).toEqual(ends);
      if (state) expect(await queue.get("0")).toMatchObject(state);
      else expect(await queue.get("0")).toBeUndefined();
      expect(stage().timers.count).toBe(0);
    });

    test("a signal that is first read after the close is aborted; within 0 waits for nothing", async () => {
      const queue = stage().queue();
      const gate = new Gate();
      const worker = stage().worker(queue, gate.handler);
      await fill(queue, 2);
      await stage().settle();
      const unfinished = await stage().awaiting(worker.close({ within: 0 }));
      expect(unfinished).toMatchObject([{ id: "0", attempt: 1 }]);
      expect(gate.running[0]!.signal.reason).toMatchObject({ name: "AbortError" });
      expect(await queue.counts()).toMatchObject({ claimed: 0, due: 2 });
    });

    test("the earliest end of several closes counts, and each resolves to the same messages", async () => {
      const queue = stage().queue();
      const gate = new Gate();
      const worker = stage().worker(queue, gate.handler);
      await fill(queue, 1);
      await stage().settle();
      const startMs = stage().nowMs;
      const plain = worker.close();
      await stage().advance(60_000);
      expect(gate.running[0]!.signal.aborted).toBe(false);
      const closes = (["1h", "2s", "1d"] as const).map((within) => worker.close({ within }));
      await stage().awaiting(Promise.all([plain, ...closes]));
      expect(Math.floor((stage().nowMs - startMs) / 1000)).toBe(62);
      for (const close of closes) expect(await close).toMatchObject([{ id: "0", attempt: 1 }]);
      expect(await worker.close({ within: 0 })).toMatchObject([{ id: "0", attempt: 1 }]);
      expect(await queue.counts()).toMatchObject({ claimed: 0, due: 1 });
      expect(stage().timers.count).toBe(0);
    });

    test("an option that is wrong is refused, and the worker goes on", async () => {
      const queue = stage().queue();
      const handled: unknown[] = [];
      const worker = stage().worker(queue, ({ payload }) => void handled.push(payload));
      const wrong = [{ within: -1 }, { within: "soon" }, { within: "2d" }, { within: null }, { timeout: 5 }, 5, null];
      for (const options of wrong)
        await expect(worker.close(options as never)).rejects.toMatchObject({
          code: "ARGUMENT",
          message: expect.stringMatching(/^QueueWorker "mail" close: (within|option|options) is /),
        });
      await fill(queue, 1);
      await stage().advance(100);
      expect(handled).toEqual([0]);
    });

    test("messages whose claim is under way are given back unstarted", async () => {
      const queue = stage().queue();
      const held: (() => void)[] = [];
      let isHolding = false;
      const run: Store["run"] = async (operation, ...call) => {
        const answer = await stage().store.run(operation, ...call);
        if (isHolding && operation.name === "queue/settle-and-claim")
          await new Promise<void>((resolve) => held.push(resolve));
        return answer;
      };
      const gate = new Gate();
      isHolding = true;
      await fill(queue, 3);
      const worker = stage().worker(stage().queueOn({ ...stage().store, run }), gate.handler, { concurrency: 2 });
      await stage().settle();
      expect(await queue.counts()).toMatchObject({ claimed: 2, due: 1 });
      const closing = worker.close({ within: 100 });
      await stage().advance(200);
      isHolding = false;
      for (const go of held) go();
      expect(await stage().awaiting(closing)).toEqual([]);
      expect(gate.running).toEqual([]);
      const claimed = await queue.claim({ limit: 9 });
      expect(claimed.map(({ attempt, hasLapsed }) => [attempt, hasLapsed])).toEqual(Array(3).fill([1, false]));
    });

    test("it ends while the store is away, and the messages come back when their claims lapse", async () => {
      const cut = stage().cuttable();
      const queue = stage().queue();
      const gate = new Gate();
      const worker = stage().worker(stage().queueOn(cut.store), gate.handler, { concurrency: 2, visibility: 20_000 });
      const events = eventsOf(worker);
      await fill(queue, 2);
      await stage().settle();
      cut.isCut = true;
      gate.end(0); // its result cannot be stored
      await stage().settle();
      const startMs = stage().nowMs;
      expect(await stage().awaiting(worker.close({ within: 1000 }))).toMatchObject([{ id: "1" }]);
      expect(stage().nowMs - startMs).toBeLessThan(5000);
      expect(events.filter(([name]) => name === "lost").map(([, event]) => event)).toEqual(
        expect.arrayContaining([
          { id: "0", attempt: 1 },
          { id: "1", attempt: 1 },
        ]),
      );
      await stage().advance(20_000);
      expect((await queue.claim({ limit: 9 })).map(({ id, attempt }) => [id, attempt])).toEqual([
        ["0", 2],
        ["1", 2],
      ]);
    });

    test("a lost reply when a message is given back: it is given back once, and its next delivery is not disturbed", async () => {
      let isBad = false;
      const unsure = new OrielError("DEADLINE", "no answer", { transient: true, applied: "unknown" });
      const run: Store["run"] = async (operation, ...call) => {
        const answer = await stage().store.run(operation, ...call);
        if (isBad && operation.name === "queue/settle-and-claim") throw unsure;
        return answer;
      };
      const queue = stage().queue();
      const gate = new Gate();
      const worker = stage().worker(stage().queueOn({ ...stage().store, run }), gate.handler);
      await fill(queue, 1);
      await stage().settle();
      isBad = true;
      const other = new Gate();
      stage().worker(queue, other.handler);
      expect(await stage().awaiting(worker.close({ within: 0 }))).toMatchObject([{ id: "0", attempt: 1 }]);
      isBad = false;
      await stage().advance(10_000);
      expect(other.running.map(({ attempt }) => attempt)).toEqual([1]);
      gate.end(0);
      await stage().advance(10_000);
      expect(await queue.get("0")).toMatchObject({ state: "claimed", attempt: 1 });
      expect(other.running[0]!.signal.aborted).toBe(false);
      other.endAll();
      await stage().settle();
      expect(await queue.get("0")).toBeUndefined();
    });

    test("on several shards all messages come back", async () => {
      const queue = stage().queue({ shards: 4 });
      const gate = new Gate();
      const worker = stage().worker(queue, gate.handler, { concurrency: 20 });
      await fill(queue, 30);
      await stage().settle();
      const running = gate.running.map(({ id }) => id);
      const unfinished = await stage().awaiting(worker.close({ within: 500 }));
      expect(unfinished.map(({ id }) => id).sort()).toEqual(running.sort());
      expect(await queue.counts()).toMatchObject({ claimed: 0, due: 30 });
    });
  });
}
