import { describe, expect, test } from "vitest";
import { type ClaimedMessage, DelayQueue, OrielError } from "../../../src/entries/index.ts";
import type { Store } from "../../../src/store/contract.ts";
import type { OpenStore } from "../../harness/clock/stepped-stores.ts";
import { staged } from "./suite.ts";
import { eventsOf, fill, Gate } from "./suite-work.ts";

/** The promises of claims: by hand, lapsed and lost, over one store. */
export function claimSuite(name: string, open: () => Promise<OpenStore>): void {
  describe(`claims, ${name}`, () => {
    const stage = staged(open);

    test("a manually claimed message is claimed once and acknowledged once", async () => {
      const queue = stage().queue();
      await fill(queue, 3);
      const claimed = await queue.claim({ limit: 2, visibility: "1s" });
      expect(claimed.map(({ id, attempt, hasLapsed }) => [id, attempt, hasLapsed])).toEqual([
        ["0", 1, false],
        ["1", 1, false],
      ]);
      expect(await queue.claim({ limit: 10 })).toMatchObject([{ id: "2" }]);
      expect(await queue.claim({ limit: 10 })).toEqual([]);
      expect(await Promise.all([queue.ack(claimed[0]!), queue.ack(claimed[0]!)])).toEqual([true, false]);
      expect(await queue.nack(claimed[1]!, { delay: 50 })).toBe(true);
      expect(await queue.nack(claimed[1]!)).toBe(false);
      expect(await queue.ack(claimed[1]!)).toBe(false);
      await stage().advance(50);
      expect(await queue.claim()).toMatchObject([{ id: "1", attempt: 2, lastError: "failed", hasLapsed: false }]);
    });

    test("peek returns the next messages to be claimed, and later ones, and claims nothing", async () => {
      const queue = stage().queue<string>();
      await queue.add("in 2 s, high", { priority: 9, delay: 2000 });
      await queue.add("in 1 s", { delay: 1000 });
      for (const payload of ["due", "due too"]) await queue.add(payload, { priority: 1 });
      await queue.add("due, first", { priority: 5, id: "first" });
      const waiting = await queue.peek();
      expect(waiting.map(({ payload }) => payload)).toEqual(["due, first", "due", "due too", "in 1 s", "in 2 s, high"]);
      expect(waiting[0]).toMatchObject({ id: "first", state: "waiting", attempt: 0, priority: 5 });
      expect((await queue.peek({ limit: 2 })).map(({ payload }) => payload)).toEqual(["due, first", "due"]);
      expect(await queue.counts()).toMatchObject({ waiting: 2, due: 3, claimed: 0 });
    });

    test("concurrent claims never get the same message, and together get all", async () => {
      const queue = stage().queue({ shards: 3 });
      await fill(queue, 60);
      const claims = await Promise.all(Array.from({ length: 30 }, () => queue.claim({ limit: 2 })));
      const ids = claims.flat().map(({ id }) => Number(id));
      expect(ids.sort((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, i) => i));
    });

    test("a lapsed claim passes to the next claimer, and the first one's result is refused", async () => {
      const queue = stage().queue();
      await fill(queue, 1);
      const [first] = await queue.claim({ visibility: "2s" });
      await stage().advance(1999);
      expect(await queue.claim()).toEqual([]);
      await stage().advance(1);
      const [second] = await queue.claim({ visibility: "2s" });
      expect(second).toMatchObject({ id: "0", attempt: 2, hasLapsed: true });
      expect(await queue.ack(first!)).toBe(false);
      expect(await queue.nack(first!)).toBe(false);
      expect(await queue.extend(first!, "1h")).toBe(false);
      expect(await queue.get("0")).toMatchObject({ state: "claimed", attempt: 2 });
      expect(await queue.extend(second!, "5s")).toBe(true);
      await stage().advance(4999);
      expect(await queue.claim()).toEqual([]);
      expect(await queue.extend(second!, 1)).toBe(true);
      expect(await queue.ack(second!)).toBe(true);
    });

    test("a message redriven or added again under its id ignores earlier receipts", async () => {
      const queue = stage().queue({ attempts: 1, dedupeFor: 0 });
      await fill(queue, 1);
      const [old] = await queue.claim();
      await queue.nack(old!);
      await queue.dead.redrive();
      const [redriven] = await queue.claim();
      expect(redriven!.attempt).toBe(1);
      expect(await queue.ack(old!)).toBe(false);
      expect(await queue.ack(redriven!)).toBe(true);
      await fill(queue, 1);
      const [anew] = await queue.claim();
      expect([await queue.ack(redriven!), await queue.nack(old!), await queue.extend(old!, 9)]).toEqual([
        false,
        false,
        false,
      ]);
      expect(await queue.ack(anew!)).toBe(true);
    });

    test("a message whose last claim lapses is dead; a late success is still accepted", async () => {
      const queue = stage().queue({ attempts: 1 });
      await fill(queue, 2);
      const claimed = await queue.claim({ limit: 2, visibility: 100 });
      await stage().advance(100);
      expect(await queue.claim({ limit: 5 })).toEqual([]);
      const lapsed = { state: "dead", attempt: 1, lastError: "lapsed" };
      expect(await queue.dead.list()).toMatchObject([lapsed, lapsed]);
      expect(await queue.ack(claimed[0]!)).toBe(true);
      expect(await queue.nack(claimed[1]!)).toBe(false);
      expect(await queue.dead.list()).toMatchObject([{ id: "1" }]);
    });

    test("a worker finds a lapsed manual claim within its visibility and one poll", async () => {
      const queue = stage().queue();
      const gate = new Gate();
      await fill(queue, 2);
      await queue.claim({ limit: 2, visibility: "2s" });
      const worker = stage().worker(queue, gate.handler, { concurrency: 2 });
      const events = eventsOf(worker);
      await stage().advance(1999);
      expect(gate.running).toEqual([]);
      await stage().advance(20);
      expect(gate.running.map(({ id, attempt }) => [id, attempt])).toEqual([
        ["0", 2],
        ["1", 2],
      ]);
      expect(events.filter(([name]) => name === "stalled")).toEqual([
        ["stalled", { id: "0", attempt: 2 }],
        ["stalled", { id: "1", attempt: 2 }],
      ]);
      gate.endAll();
    });

    test("a worker that is cut off knows at once that its claims ended, and starts no lapsed message", async () => {
      const cut = stage().cuttable();
      const own = new DelayQueue<unknown>(cut.store, "mail", {}, stage().timers);
      const queue = stage().queue();
      const gate = new Gate();
      const worker = stage().worker(own, gate.handler, { prefetch: 1, visibility: 3000 });
      const events = eventsOf(worker);
      await fill(queue, 2);
      await stage().settle();
      cut.isCut = true;
      const startMs = stage().nowMs;
      let toldAtMs = 0;
      gate.running[0]!.signal.addEventListener("abort", () => {
        toldAtMs = stage().nowMs;
      });
      await stage().advance(2998);
      expect(toldAtMs).toBe(0);
      await stage().advance(5);
      expect(toldAtMs - startMs).toBe(2999);
      expect(gate.running[0]!.signal.reason).toMatchObject({ code: "LOST" });
      const other = new Gate();
      stage().worker(queue, other.handler, { concurrency: 2 });
      await stage().advance(6000);
      expect(other.running.map(({ id, attempt }) => [id, attempt])).toEqual([
        ["0", 2],
        ["1", 2],
      ]);
      gate.end(0);
      cut.isCut = false;
      await stage().advance(6000);
      expect(gate.running).toHaveLength(1);
      expect(events).toContainEqual(["lost", { id: "0", attempt: 1 }]);
      other.endAll();
      await stage().settle();
      expect(await queue.counts()).toMatchObject({ claimed: 0, due: 0, dead: 0 });
    });

    test("a message claimed in the middle of a millisecond is given up before another can claim it", async () => {
      const cut = stage().cuttable();
      const gate = new Gate();
      const own = new DelayQueue<unknown>(cut.store, "mail", {}, stage().timers);
      const queue = stage().queue();
      await stage().advance(0.9);
      stage().worker(own, gate.handler, { visibility: 1000 });
      await fill(queue, 1);
      await stage().settle();
      const { signal } = gate.running[0]!;
      cut.isCut = true;
      let others: ClaimedMessage[] = [];
      for (let i = 0; i < 20 && others.length === 0; i++) {
        await stage().advance(i === 0 ? 998 : 0.25);
        others = await queue.claim();
        expect([others.length, signal.aborted]).not.toEqual([1, false]);
      }
      expect(others).toHaveLength(1);
      gate.endAll();
    });

    test("a worker that claims its own lapsed message again holds it once: the earlier delivery is lost", async () => {
      const cut = stage().cuttable();
      const own = new DelayQueue<unknown>(cut.store, "mail", {}, stage().timers);
      const gate = new Gate();
      const worker = stage().worker(own, gate.handler, { concurrency: 2, visibility: 3000 });
      const events = eventsOf(worker);
      await fill(stage().queue(), 1);
      await stage().settle();
      cut.isCut = true;
      await stage().advance(3500);
      cut.isCut = false;
      await stage().advance(6000);
      expect(gate.running.map(({ attempt, signal }) => [attempt, signal.aborted])).toEqual([
        [1, true],
        [2, false],
      ]);
      gate.end(0);
      await stage().advance(20_000);
      expect(gate.running[1]!.signal.aborted).toBe(false);
      expect(await own.get("0")).toMatchObject({ state: "claimed", attempt: 2 });
      gate.end(1);
      await stage().settle();
      expect(await own.get("0")).toBeUndefined();
      const ends = events.filter(([name]) => name === "lost" || name === "completed");
      expect(ends).toMatchObject([
        ["lost", { id: "0", attempt: 1 }],
        ["completed", { id: "0", attempt: 2 }],
      ]);
    });

    test.each([
      ["call", "lost"],
      ["reply", "completed"],
    ])("the %s with a result is lost, and retries fail for long: then it is reported as %s", async (what, end) => {
      let isBad = false;
      const unsure = new OrielError("DEADLINE", "no answer", { transient: true, applied: "unknown" });
      const run: Store["run"] = async (operation, ...call) => {
        if (!isBad) return stage().store.run(operation, ...call);
        if (what === "reply" && operation.name === "queue/settle-and-claim")
          await stage().store.run(operation, ...call);
        throw unsure;
      };
      const own = new DelayQueue<unknown>({ ...stage().store, run }, "mail", {}, stage().timers);
      const gate = new Gate();
      const worker = stage().worker(own, gate.handler, { visibility: 500 });
      const events = eventsOf(worker);
      const queue = stage().queue();
      await fill(queue, 1);
      await stage().settle();
      isBad = true;
      gate.end(0);
      await stage().advance(1000);
      const others = await queue.claim();
      expect(others.map(({ attempt }) => attempt)).toEqual(what === "call" ? [2] : []);
      for (const other of others) await queue.ack(other);
      isBad = false;
      await stage().advance(5000);
      const ends = events.filter(([name]) => name === "lost" || name === "completed");
      expect(ends).toMatchObject([[end, { id: "0", attempt: 1 }]]);
    });
  });
}
