import { describe, expect, test } from "vitest";
import { DoNotRetryError, type Job, OrielError } from "../../../src/entries/index.ts";
import type { Store } from "../../../src/store/contract.ts";
import type { OpenStore } from "../../harness/clock/stepped-stores.ts";
import { staged } from "./suite.ts";
import { eventsOf, fill, Gate } from "./suite-work.ts";

class CardError extends DoNotRetryError {
  override readonly name = "CardError";
}

/** The same class in another copy of the package. */
class ForeignError extends Error {
  readonly doNotRetry = true;
}

const expired = new DoNotRetryError("the card has expired");
const deep = (error: unknown, times: number): unknown =>
  Array.from({ length: times }).reduce((cause) => new Error("charge", { cause }), error);
const circular = new Error("circular");
circular.cause = circular;
const hostile = Object.defineProperty(new Error("hostile"), "doNotRetry", {
  get() {
    throw new Error("getter");
  },
});

const FINAL: [what: string, thrown: unknown, lastError: string][] = [
  ["the error", expired, "DoNotRetryError: the card has expired"],
  ["a subclass", new CardError("expired"), "CardError: expired"],
  ["that of another copy", new ForeignError("foreign"), "Error: foreign"],
  ["an object with the property", { doNotRetry: true, toString: () => "mine" }, "mine"],
  ["a wrapped one", deep(expired, 1), "DoNotRetryError: the card has expired (Error: charge)"],
  ["one that is wrapped ten times", deep(expired, 10), "DoNotRetryError: the card has expired (Error: charge)"],
  ["one with a cause", new DoNotRetryError("no", { cause: new Error("404") }), "DoNotRetryError: no"],
  ["one with a long text", new DoNotRetryError("y".repeat(5000)), `DoNotRetryError: ${"y".repeat(983)}`],
];

const OTHERS: [what: string, thrown: unknown][] = [
  ["another error", new Error("busy")],
  ["an error whose property is not true", Object.assign(new Error("busy"), { doNotRetry: "true" })],
  ["one that is wrapped too often", deep(expired, 11)],
  ["an error that is its own cause", circular],
  ["an error whose getter throws", hostile],
  ["nothing", undefined],
];

/** How a handler ends a message, over one store. */
export function endingsSuite(name: string, open: () => Promise<OpenStore>): void {
  describe(`endings, ${name}`, () => {
    const stage = staged(open);

    test.each(FINAL)(
      "%s that says so ends the deliveries at once, with its reason",
      async (_what, thrown, lastError) => {
        const queue = stage().queue({ attempts: 5, backoff: 10 });
        const worker = stage().worker(queue, () => {
          throw thrown;
        });
        const events = eventsOf(worker);
        await fill(queue, 1);
        await stage().advance(1000);
        expect(events).toEqual([
          ["failed", { id: "0", attempt: 1, error: thrown }],
          ["dead", { id: "0", attempt: 1, error: thrown }],
        ]);
        expect(await queue.dead.list()).toMatchObject([{ id: "0", attempt: 1, attempts: 5, lastError }]);
        expect(await queue.counts()).toMatchObject({ waiting: 0, due: 0, claimed: 0, dead: 1 });
        expect(await queue.dead.redrive()).toBe(1);
        await stage().advance(1000);
        expect(events.map(([name]) => name)).toEqual(["failed", "dead", "failed", "dead"]);
      },
    );

    test.each(OTHERS)("%s does not end them", async (_what, thrown) => {
      const queue = stage().queue({ attempts: 3, backoff: 10 });
      let calls = 0;
      stage().worker(queue, () => {
        calls++;
        throw thrown;
      });
      await fill(queue, 1);
      await stage().advance(1000);
      expect(calls).toBe(3);
      expect(await queue.dead.list()).toMatchObject([{ id: "0", attempt: 3 }]);
    });

    test("it ends a manual claim too, whatever the delay", async () => {
      const queue = stage().queue();
      await fill(queue, 1);
      const [message] = await queue.claim();
      expect(await queue.nack(message!, { error: expired, delay: "1h" })).toBe(true);
      expect(await queue.get("0")).toMatchObject({
        state: "dead",
        attempt: 1,
        lastError: "DoNotRetryError: the card has expired",
      });
    });

    test("a message comes again after its delay, as if it had just been added, until its handler returns without", async () => {
      const queue = stage().queue({ attempts: 2 });
      const startMs = stage().nowMs;
      const seen: [attempt: number, atMs: number, payload: unknown, lastError: unknown, priority: number][] = [];
      const worker = stage().worker(queue, (job) => {
        seen.push([job.attempt, stage().nowMs - startMs, job.payload, job.lastError, job.priority]);
        if (seen.length < 8) job.again({ delay: "1s" });
      });
      const events = eventsOf(worker);
      await queue.add("look", { id: "poll-42", priority: 3 });
      await stage().advance(60_000);
      expect(seen.map(([attempt, , ...rest]) => [attempt, ...rest])).toEqual(
        Array.from({ length: 8 }, () => [1, "look", undefined, 3]),
      );
      for (const [i, [, atMs]] of seen.entries()) {
        expect(atMs).toBeGreaterThanOrEqual(1000 * i);
        expect(atMs).toBeLessThan(1000 * i + 400);
      }
      expect(events.map(([name]) => name)).toEqual([...Array(7).fill("again"), "completed"]);
      expect(events[0]![1]).toEqual({ id: "poll-42", attempt: 1, durationMs: 0, delayMs: 1000 });
      expect(await queue.counts()).toMatchObject({ waiting: 0, due: 0, claimed: 0, dead: 0 });
    });

    test("while it waits its id is known, and it can be rescheduled, cancelled and read", async () => {
      const queue = stage().queue<string>({ dedupeFor: 0 });
      const handled: string[] = [];
      stage().worker(queue, (job) => {
        handled.push(job.id);
        job.again({ delay: "100s" });
      });
      await queue.add("a", { id: "a" });
      await queue.add("b", { id: "b" });
      await stage().settle();
      const addedAtMs = stage().nowMs;
      expect(await queue.get("a")).toMatchObject({
        state: "waiting",
        attempt: 0,
        payload: "a",
        atMs: addedAtMs + 100_000,
      });
      expect(await queue.add("x", { id: "a" })).toEqual({ id: "a", isNew: false });
      expect(await queue.reschedule("a", { delay: "1s" })).toBe(true);
      expect(await queue.cancel("b")).toBe(true);
      await stage().advance(2000);
      expect(handled.sort()).toEqual(["a", "a", "b"]);
      await stage().advance(1.5 * 100_000);
      expect(handled.sort()).toEqual(["a", "a", "a", "b"]);
    });

    test("failures in between count from the last time that it came again", async () => {
      const queue = stage().queue({ attempts: 3, backoff: 10 });
      const fates = ["fail", "fail", "again", "fail", "fail", "again", "fail", "fail", "fail"];
      const attempts: number[] = [];
      const worker = stage().worker(queue, (job) => {
        attempts.push(job.attempt);
        if (fates[attempts.length - 1] === "fail") throw new Error("no");
        expect(job.lastError).toBe("Error: no");
        job.again({ delay: 10 });
      });
      const events = eventsOf(worker);
      await fill(queue, 1);
      await stage().advance(10_000);
      expect(attempts).toEqual([1, 2, 3, 1, 2, 3, 1, 2, 3]);
      expect(events.at(-1)).toMatchObject(["dead", { id: "0", attempt: 3 }]);
    });

    test("a handler that throws after it asked for it has failed: the delay replaces the backoff, the attempts count", async () => {
      const queue = stage().queue({ attempts: 3, backoff: "1h" });
      const startMs = stage().nowMs;
      const atMs: number[] = [];
      const worker = stage().worker(queue, (job) => {
        atMs.push(stage().nowMs - startMs);
        job.again({ delay: "5m" });
        job.again({ delay: "2s" });
        throw new Error("busy");
      });
      const events = eventsOf(worker);
      await fill(queue, 1);
      await stage().advance(60_000);
      expect(atMs.map((ms) => Math.round(ms / 1000))).toEqual([0, 2, 4]);
      expect(events.map(([name]) => name)).toEqual(["failed", "retry", "failed", "retry", "failed", "dead"]);
      expect(events[1]![1]).toEqual({ id: "0", attempt: 1, delayMs: 2000 });
    });

    test("a DoNotRetryError ends it, whatever the handler asked for", async () => {
      const queue = stage().queue();
      stage().worker(queue, (job) => {
        job.again({ delay: 5 });
        throw expired;
      });
      await fill(queue, 1);
      await stage().advance(1000);
      expect(await queue.counts()).toMatchObject({ waiting: 0, due: 0, claimed: 0, dead: 1 });
    });

    test("among other messages it keeps its priority, and comes after equal ones that were added before", async () => {
      const queue = stage().queue<string>();
      const order: string[] = [];
      await queue.add("low", { id: "low" });
      await queue.add("poll", { id: "poll", priority: 5 });
      await queue.add("equal", { id: "equal", priority: 5 });
      await queue.add("high", { id: "high", priority: 9 });
      const asked = new Set<string>();
      stage().worker(queue, (job) => {
        order.push(job.id);
        if (job.id === "poll" && !asked.has("poll")) job.again({ delay: 0 });
        asked.add(job.id);
      });
      await stage().advance(1000);
      expect(order).toEqual(["high", "poll", "equal", "poll", "low"]);
    });

    test("on several shards, with several workers, each poll runs as often as it asks and no more", async () => {
      const queue = stage().queue<number>({ shards: 4 });
      const runs = new Map<string, number>();
      const handler = (job: Job<number>) => {
        const run = (runs.get(job.id) ?? 0) + 1;
        runs.set(job.id, run);
        if (run < 5) job.again({ delay: run === 2 ? 0 : 100 });
      };
      for (let i = 0; i < 3; i++) stage().worker(queue, handler, { concurrency: 3, prefetch: 2 });
      await queue.addBulk(Array.from({ length: 40 }, (_, payload) => ({ payload, id: `poll-${payload}` })));
      await stage().advance(20_000);
      expect([...runs.values()]).toEqual(Array(40).fill(5));
      expect(await queue.counts()).toMatchObject({ waiting: 0, due: 0, claimed: 0, dead: 0 });
    });

    test("results of an earlier delivery are refused, though it had the same number", async () => {
      const queue = stage().queue<unknown>({ attempts: 9 });
      const cut = stage().cuttable();
      const gate = new Gate();
      const slow = stage().worker(stage().queueOn(cut.store), gate.handler, { visibility: 500 });
      const events = eventsOf(slow);
      await fill(queue, 1);
      await stage().settle();
      cut.isCut = true;
      await stage().advance(600);
      let times = 0;
      const other = stage().worker(queue, (job) => {
        expect(job.attempt).toBe(++times === 1 ? 2 : 1);
        if (times === 1) return job.again({ delay: "1m" });
        return new Promise(() => {});
      });
      await stage().advance(5000);
      expect(times).toBe(1);
      await queue.reschedule("0", { delay: 0 });
      await stage().advance(100);
      expect(times).toBe(2);
      cut.isCut = false;
      gate.end(0); // delivery 1, as the one that is in the other handler now
      await stage().advance(100);
      expect(events).toContainEqual(["lost", { id: "0", attempt: 1 }]);
      expect(await queue.get("0")).toMatchObject({ state: "claimed", attempt: 1 });
      gate.endAll(); // it gets the message next
      await stage().awaiting(other.close({ within: 0 }));
    });

    test.each([
      ["call", ["again"]],
      ["reply", ["again"]],
    ])("the %s with the wish is lost: the message comes again once, after a retry", async (what, ends) => {
      let isBad = false;
      const unsure = new OrielError("DEADLINE", "no answer", { transient: true, applied: "unknown" });
      const run: Store["run"] = async (operation, ...call) => {
        if (!isBad || operation.name !== "queue/settle-and-claim") return stage().store.run(operation, ...call);
        isBad = false;
        if (what === "reply") await stage().store.run(operation, ...call);
        throw unsure;
      };
      const own = stage().queueOn({ ...stage().store, run });
      let times = 0;
      const worker = stage().worker(own, (job) => {
        isBad = ++times === 1;
        if (times === 1) job.again({ delay: "10s" });
      });
      const events = eventsOf(worker);
      await fill(own, 1);
      await stage().advance(9000);
      expect(times).toBe(1);
      expect(await own.get("0")).toMatchObject({ state: "waiting", attempt: 0 });
      await stage().advance(60_000);
      expect(times).toBe(2);
      expect(events.filter(([name]) => name !== "error").map(([name]) => name)).toEqual([...ends, "completed"]);
      expect(await own.counts()).toMatchObject({ waiting: 0, due: 0, claimed: 0, dead: 0 });
    });

    test("a wish that arrives after its last delivery lapsed still counts, until the message is redriven", async () => {
      const queue = stage().queue<unknown>({ attempts: 1 });
      const cut = stage().cuttable();
      const gates: (() => void)[] = [];
      const own = stage().queueOn(cut.store);
      const worker = stage().worker(
        own,
        (job) => {
          job.again({ delay: "1h" });
          return new Promise<void>((resolve) => gates.push(resolve));
        },
        { visibility: 500, concurrency: 2 },
      );
      const events = eventsOf(worker);
      await fill(queue, 2);
      await stage().settle();
      cut.isCut = true;
      await stage().advance(600);
      expect(await queue.claim({ limit: 5 })).toEqual([]);
      expect(await queue.counts()).toMatchObject({ dead: 2 });
      expect(await queue.dead.redrive({ ids: ["1"] })).toBe(1);
      const [redriven] = await queue.claim({ visibility: "1h" });
      cut.isCut = false;
      for (const end of gates) end();
      await stage().advance(10_000);
      expect(await queue.get("0")).toMatchObject({ state: "waiting", attempt: 0 });
      expect(await queue.get("1")).toMatchObject({ state: "claimed", attempt: 1 });
      expect(await queue.ack(redriven!)).toBe(true);
      expect(events.map(([name, event]) => [name, (event as { id: string }).id])).toEqual(
        expect.arrayContaining([
          ["again", "0"],
          ["lost", "1"],
        ]),
      );
    });

    test("a wrong delay is refused and changes nothing; after its end a handler cannot ask", async () => {
      const queue = stage().queue();
      const messages: string[] = [];
      const jobs: Job<unknown>[] = [];
      const wrong = [undefined, {}, { delay: -1 }, { delay: "soon" }, { delay: Number.NaN }, { delay: 5, at: 1 }, 5];
      stage().worker(queue, (job) => {
        jobs.push(job);
        for (const options of wrong)
          try {
            job.again(options as never);
          } catch (error) {
            messages.push(String(error));
          }
      });
      await fill(queue, 1);
      await stage().advance(1000);
      expect(messages).toHaveLength(wrong.length);
      for (const message of messages) expect(message).toMatch(/^OrielError: Job "0" again: (delay|option|options) is /);
      expect(() => jobs[0]!.again({ delay: 5 })).toThrow('Job "0" again: the handler has ended');
      expect(await queue.counts()).toMatchObject({ waiting: 0, due: 0, claimed: 0, dead: 0 });
    });
  });
}
