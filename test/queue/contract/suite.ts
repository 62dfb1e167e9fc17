import { describe, expect, test } from "vitest";
import { DelayQueue } from "../../../src/entries/index.ts";
import { staged as stagedOn } from "../../harness/clock/staged.ts";
import { type OpenStore, START_MS } from "../../harness/clock/stepped-stores.ts";
import { repeatableStore } from "../../harness/repeatable-store.ts";
import { Stage } from "./stage.ts";

const YEAR_MS = 365 * 86_400_000;

export const staged = (open: () => Promise<OpenStore>) => stagedOn(async () => new Stage(await open()));

/** The promises of a queue about its messages, over one store. */
export function queueSuite(name: string, open: () => Promise<OpenStore>): void {
  describe(`messages, ${name}`, () => {
    const stage = staged(open);
    /** Payloads that a worker was handed, and when. */
    const listening = (options = {}) => {
      const queue = stage().queue<unknown>(options);
      const handed: [payload: unknown, atMs: number][] = [];
      const listen = (worker = {}) =>
        stage().worker(queue, (job) => void handed.push([job.payload, stage().nowMs]), worker);
      return { queue, handed, listen, payloads: () => handed.map(([payload]) => payload) };
    };

    test("messages due at one ms come in order of adding, over several calls and after a bulk", async () => {
      const { queue, listen, payloads } = listening();
      const at = stage().nowMs + 1000;
      for (let i = 0; i < 5; i++) await queue.add(i, { at });
      await queue.addBulk(Array.from({ length: 300 }, (_, i) => ({ payload: 5 + i, at })));
      await Promise.all(Array.from({ length: 300 }, (_, i) => queue.add(305 + i, { at })));
      listen({ prefetch: 100 }); // one at a time, without a claim for each
      await stage().advance(1010);
      expect(payloads()).toEqual(Array.from({ length: 605 }, (_, i) => i));
    });

    test("a message comes exactly when it is due: delay, at, a Date, now, the past", async () => {
      const { queue, handed, listen } = listening();
      const startMs = stage().nowMs;
      listen();
      await queue.add("delayed", { delay: "2s" });
      await queue.add("at", { at: startMs + 1000 });
      await queue.add("date", { at: new Date(startMs + 1500) });
      await queue.add("now");
      await queue.add("past", { at: startMs - 5000 });
      await queue.add("1970", { at: 0 });
      await stage().advance(0);
      expect(new Set(handed)).toEqual(new Set(["now", "past", "1970"].map((each) => [each, startMs])));
      handed.length = 0;
      await stage().advance(999);
      expect(handed).toEqual([]);
      await stage().advance(20_000);
      expect(handed.map(([payload]) => payload)).toEqual(["at", "date", "delayed"]);
      const lateMs = [1000, 1500, 2000].map((ms, i) => handed[i]![1] - startMs - ms);
      expect(lateMs.every((ms) => ms >= 0 && ms <= 10)).toBe(true);
    });

    test("a delay above the maximum of a timer does not end early, even after years", async () => {
      const { queue, payloads } = listening();
      const startMs = stage().nowMs;
      await queue.addBulk([
        { payload: "timer", delay: 2 ** 31 + 5 },
        { payload: "years", delay: 5 * YEAR_MS },
      ]);
      const claimed = async () => (await queue.claim({ limit: 10, visibility: "1d" })).map(({ payload }) => payload);
      expect(await claimed()).toEqual([]);
      stage().opened.clock.nowMs = startMs + 2 ** 31 + 4;
      expect(await claimed()).toEqual([]);
      stage().opened.clock.nowMs++;
      expect(await claimed()).toEqual(["timer"]);
      stage().opened.clock.nowMs = startMs + 5 * YEAR_MS - 1;
      expect(await queue.counts()).toMatchObject({ waiting: 1, due: 0, claimed: 1 });
      stage().opened.clock.nowMs = START_MS;
      expect(payloads()).toEqual([]);
    });

    test("an id is added once: while it waits, is claimed or dead, and after success for `dedupeFor`", async () => {
      const queue = stage().queue<number>({ dedupeFor: "10s", attempts: 1 });
      const add = async () => (await queue.add(1, { id: "a" })).isNew;
      expect(await add()).toBe(true);
      expect(await add()).toBe(false);
      const [message] = await queue.claim();
      expect(await add()).toBe(false);
      expect(await queue.nack(message!)).toBe(true);
      expect(await queue.get("a")).toMatchObject({ state: "dead" });
      expect(await add()).toBe(false);
      expect(await queue.dead.redrive()).toBe(1);
      const [again] = await queue.claim();
      expect(await queue.ack(again!)).toBe(true);
      expect(await queue.get("a")).toBeUndefined();
      await stage().advance(9999);
      expect(await add()).toBe(false);
      await stage().advance(2);
      expect(await add()).toBe(true);
      expect(await queue.cancel("a")).toBe(true);
      expect(await add()).toBe(true);
    });

    test("messages without an id are separate; in a bulk the first of an id is added", async () => {
      const queue = stage().queue<number>();
      const [one, other] = await Promise.all([queue.add(1), queue.add(1)]);
      expect(one.id).not.toBe(other.id);
      const bulk = await queue.addBulk([1, 2, 3].map((payload) => ({ payload, id: payload < 3 ? "a" : "b" })));
      expect(bulk).toEqual([
        { id: "a", isNew: true },
        { id: "a", isNew: false },
        { id: "b", isNew: true },
      ]);
      expect((await queue.get("a"))!.payload).toBe(1);
      expect(await queue.addBulk([])).toEqual([]);
    });

    test("JSON and bytes are returned unchanged", async () => {
      const { queue, listen, payloads } = listening();
      const all = [
        null,
        "",
        "é𝄞",
        0,
        -1.5,
        [1, { a: [] }],
        { a: { b: "c" } },
        new Uint8Array(0),
        Uint8Array.of(0, 255),
      ];
      await queue.addBulk([...all, new Uint8Array(2 ** 19).fill(7)].map((payload) => ({ payload })));
      listen();
      await stage().settle();
      expect(payloads().slice(0, -1)).toEqual(all);
      expect(payloads().at(-1)).toHaveLength(2 ** 19);
    });

    test("of the due messages the highest priority comes first; others do not come", async () => {
      const { queue, listen, payloads } = listening();
      for (const priority of [0, 5, 9, 5, 0]) await queue.add(priority, { priority, delay: 100 });
      await queue.add("later", { priority: 9, delay: 1000 });
      listen();
      await stage().advance(500);
      expect(payloads()).toEqual([9, 5, 5, 0, 0]);
      await stage().advance(1000);
      expect(payloads().at(-1)).toBe("later");
    });

    test("cancel removes a waiting or dead message, once; a claimed one stays", async () => {
      const queue = stage().queue<string>({ attempts: 1 });
      for (const id of ["waits", "dies", "runs"]) await queue.add(id, { id, delay: id === "waits" ? 1000 : 0 });
      const claimed = await queue.claim({ limit: 5 });
      await queue.nack(claimed[0]!);
      expect(claimed.map(({ id }) => id)).toEqual(["dies", "runs"]);
      const cancelled = await Promise.all(["waits", "dies", "runs", "none"].map((id) => queue.cancel(id)));
      expect(cancelled).toEqual([true, true, false, false]);
      expect(await queue.cancel("waits")).toBe(false);
      expect(await queue.counts()).toEqual({ waiting: 0, due: 0, claimed: 1, dead: 0, isPaused: false });
      expect(await queue.ack(claimed[1]!)).toBe(true);
    });

    test("a late copy of an add changes nothing after its message was cancelled; a new add of the id counts", async () => {
      const { store, repeatAll } = repeatableStore(stage().store);
      const sender = new DelayQueue<number>(store, "mail", stage().opened.modes, stage().timers);
      const { queue, handed, listen } = listening();
      await Promise.all([sender.add(1, { id: "a" }), sender.add(2, { id: "b", delay: "1s" }), sender.add(3)]);
      await sender.addBulk([4, 5].map((payload) => ({ payload, id: `${payload}`, delay: "1s" })));
      const ids = (await queue.peek({ limit: 10 })).map(({ id }) => id);
      expect(ids).toHaveLength(5);
      for (const id of ids) expect(await queue.cancel(id)).toBe(true);
      for (const laterMs of [0, 1, 60_000, 500_000]) {
        await stage().advance(laterMs);
        await repeatAll();
        expect(await queue.counts()).toMatchObject({ waiting: 0, due: 0, claimed: 0, dead: 0 });
      }
      expect(await queue.add(6, { id: "a" })).toEqual({ id: "a", isNew: true });
      await repeatAll();
      listen();
      await stage().settle();
      expect(handed.map(([payload]) => payload)).toEqual([6]);
    });

    test("rescheduling a message to earlier wakes a sleeping worker, to later delays it", async () => {
      const { queue, handed, listen } = listening();
      const startMs = stage().nowMs;
      await queue.add("sooner", { id: "sooner", delay: "1h" });
      await queue.add("later", { id: "later", delay: "2s" });
      listen();
      await stage().settle();
      expect(await queue.reschedule("sooner", { delay: 1000 })).toBe(true);
      expect(await queue.reschedule("later", { at: startMs + 3000 })).toBe(true);
      expect(await queue.reschedule("none", { delay: 1 })).toBe(false);
      await stage().advance(4000);
      expect(handed.map(([payload]) => payload)).toEqual(["sooner", "later"]);
      expect(handed[0]![1] - startMs - 1000).toBeLessThan(10);
      expect(handed[1]![1] - startMs - 3000).toBeLessThan(10);
    });

    test("claimed and dead messages are not rescheduled; redriven ones are", async () => {
      const queue = stage().queue<number>({ attempts: 1 });
      await queue.add(1, { id: "a" });
      const [message] = await queue.claim();
      expect(await queue.reschedule("a", { delay: 1 })).toBe(false);
      await queue.nack(message!);
      expect(await queue.reschedule("a", { delay: 1 })).toBe(false);
      await queue.dead.redrive();
      expect(await queue.reschedule("a", { delay: 1000 })).toBe(true);
      expect(await queue.claim()).toEqual([]);
    });

    test("get returns the state of a message: waiting, claimed, failed, dead", async () => {
      const queue = stage().queue<number>({ attempts: 2, backoff: "5s" });
      const nowMs = stage().nowMs;
      await queue.add(7, { id: "a", delay: 100, priority: 3 });
      const whole = { id: "a", payload: 7, attempts: 2, priority: 3, addedAtMs: nowMs };
      expect(await queue.get("a")).toEqual({ ...whole, state: "waiting", atMs: nowMs + 100, attempt: 0 });
      await stage().advance(100);
      const [first] = await queue.claim({ visibility: "7s" });
      expect(await queue.get("a")).toEqual({ ...whole, state: "claimed", atMs: nowMs + 7100, attempt: 1 });
      await queue.nack(first!, { error: new Error("no") });
      const failed = { ...whole, attempt: 1, lastError: "Error: no" };
      expect(await queue.get("a")).toEqual({ ...failed, state: "waiting", atMs: nowMs + 5100 });
      await stage().advance(5000);
      const [second] = await queue.claim();
      await queue.nack(second!, { error: "again" });
      const dead = { ...whole, state: "dead", attempt: 2, lastError: "again", atMs: nowMs + 5100 };
      expect(await queue.get("a")).toEqual(dead);
      expect(await queue.dead.list()).toEqual([dead]);
      expect(await queue.get("b")).toBeUndefined();
    });

    test("counts, and pause: nothing is claimed until resume, which wakes sleeping workers", async () => {
      const { queue, listen, payloads } = listening();
      await queue.pause();
      await queue.addBulk([{ payload: 1 }, { payload: 2, delay: 1000 }]);
      listen();
      await stage().advance(20_000);
      expect(payloads()).toEqual([]);
      expect(await queue.claim()).toEqual([]);
      expect(await queue.counts()).toEqual({ waiting: 0, due: 2, claimed: 0, dead: 0, isPaused: true });
      await queue.resume();
      await stage().settle();
      expect(payloads()).toEqual([1, 2]);
      expect(await queue.counts()).toEqual({ waiting: 0, due: 0, claimed: 0, dead: 0, isPaused: false });
    });

    test("dead letters are listed in order of death, in pages; redriven ones start anew", async () => {
      const queue = stage().queue<number>({ attempts: 1 });
      await queue.addBulk([0, 1, 2, 3, 4].map((payload) => ({ payload, id: `${payload}` })));
      for (let i = 0; i < 5; i++) {
        await queue.nack((await queue.claim())[0]!, { error: new Error(`${i}`) });
        await stage().advance(10);
      }
      const ids = async (page = {}) => (await queue.dead.list(page)).map(({ id }) => id);
      expect(await ids()).toEqual(["0", "1", "2", "3", "4"]);
      expect(await ids({ offset: 1, limit: 2 })).toEqual(["1", "2"]);
      expect(await ids({ offset: 5 })).toEqual([]);
      expect(await queue.dead.redrive({ ids: ["3", "none", "3"] })).toBe(1);
      expect(await queue.cancel("0")).toBe(true);
      const [message] = await queue.claim();
      expect(message).toMatchObject({ id: "3", attempt: 1, hasLapsed: false });
      expect(message).not.toHaveProperty("lastError");
      expect(await queue.dead.redrive()).toBe(3);
      expect(await queue.counts()).toMatchObject({ due: 3, claimed: 1, dead: 0 });
    });
  });
}
