import { describe, expect, test } from "vitest";
import { type Deferred, deferred } from "../../../src/base/async/deferred.ts";
import { OrielError, type QueueWorker } from "../../../src/entries/index.ts";
import type { Store } from "../../../src/store/contract.ts";
import type { OpenStore } from "../../harness/clock/stepped-stores.ts";
import { staged } from "./suite.ts";
import { eventsOf, fill, Gate } from "./suite-work.ts";

/** How the delivery ends whose own worker moved its message to the dead letters, and the events of that. */
const LATE_ENDS: [what: string, end: (gate: Gate, worker: QueueWorker) => unknown, events: string[]][] = [
  ["its handler throws", (gate) => gate.end(0, new Error("too late")), ["failed"]],
  ["its worker gives it back", (_, worker) => worker.close({ within: 0 }), []],
  ["its handler returns", (gate) => gate.end(0), ["completed"]],
  [
    "its handler asks to come again",
    (gate) => {
      gate.running[0]!.again({ delay: "1h" });
      gate.end(0);
    },
    ["again"],
  ],
];

/** The promises of messages whose claim has lapsed, over one store. */
export function lapsedSuite(name: string, open: () => Promise<OpenStore>): void {
  describe(`lapsed messages, ${name}`, () => {
    const stage = staged(open);

    test("the lag is the age of the oldest due message, whatever its priority or shard", async () => {
      const queue = stage().queue({ shards: 3 });
      expect(await queue.lag()).toBe(0);
      await queue.add("low", { id: "low" });
      await stage().advance(1500);
      await queue.add("high", { priority: 9 });
      await queue.add("later", { delay: "1h" });
      expect(await queue.lag()).toBe(1500);
      await stage().advance(200);
      expect(await queue.lag()).toBe(1700);
      await queue.cancel("low");
      expect(await queue.lag()).toBe(200);
      await queue.claim({ limit: 3 });
      expect(await queue.lag()).toBe(0);
    });

    test("a message is dead after its last delivery; the worker that moved it emits that once", async () => {
      const queue = stage().queue();
      await fill(queue, 3, { attempts: 1 });
      await queue.claim({ limit: 3, visibility: 200 });
      const workers = [0, 1].map(() => stage().worker(queue, () => {}, { concurrency: 4 }));
      const events = workers.map(eventsOf);
      await stage().advance(6000);
      const reported = events.flat();
      for (const id of ["0", "1", "2"])
        expect(reported.filter(([, each]) => (each as { id: string }).id === id)).toMatchObject([
          ["stalled", { id, attempt: 1 }],
          ["dead", { id, attempt: 1, error: { code: "LOST", structure: "QueueWorker", structureName: "mail" } }],
        ]);
      expect(reported).toHaveLength(6);
      expect(await queue.dead.list()).toMatchObject(["0", "1", "2"].map((id) => ({ id, lastError: "lapsed" })));
    });

    test.each(LATE_ENDS)("a worker moves its own message to the dead letters, then %s", async (_, end, ends) => {
      const cut = stage().cuttable();
      const gate = new Gate();
      const worker = stage().worker(stage().queueOn(cut.store), gate.handler, { visibility: 500, concurrency: 2 });
      const events = eventsOf(worker);
      await fill(stage().queue(), 1, { attempts: 1 });
      await stage().settle();
      cut.isCut = true;
      await stage().advance(600);
      cut.isCut = false;
      await stage().advance(5000);
      const names = () => events.map(([name]) => name).filter((name) => name !== "error");
      expect(names()).toEqual(["stalled", "dead"]);
      await stage().awaiting(Promise.resolve(end(gate, worker)));
      await stage().advance(5000);
      expect(names()).toEqual(["stalled", "dead", ...ends]);
    });

    test("a worker does so while the failure is on the way, whose repeat finds a dead message", async () => {
      const asked: Deferred<void>[] = [];
      let isHeld = false;
      const run: Store["run"] = async (operation, ...call) => {
        if (isHeld && operation.name === "queue/settle-and-claim") {
          const one = deferred();
          asked.push(one);
          await one.promise;
        }
        return stage().store.run(operation, ...call);
      };
      const gate = new Gate();
      const queue = stage().queueOn({ ...stage().store, run });
      const worker = stage().worker(queue, gate.handler, { visibility: 500, concurrency: 4 });
      const events = eventsOf(worker);
      await fill(queue, 4, { attempts: 1 });
      await stage().settle();
      isHeld = true;
      gate.end(0, new Error("no"));
      await stage().settle();
      gate.end(1); // its result travels beside, with a claim that finds the lapsed message
      await stage().advance(600);
      isHeld = false;
      gate.endAll();
      asked[1]!.resolve();
      await stage().settle();
      asked[0]!.reject(new OrielError("DEADLINE", "no answer", { transient: true, applied: "unknown" }));
      await stage().advance(5000);
      const its = events.filter(([, each]) => (each as { id?: string }).id === "0").map(([name]) => name);
      expect(its).toEqual(["failed", "stalled", "dead"]);
    });

    test("the reason stays that of the last failed delivery", async () => {
      const queue = stage().queue({ attempts: 2 });
      await fill(queue, 1);
      const [first] = await queue.claim();
      await queue.nack(first!, { delay: 0, error: new Error("no") });
      await queue.claim({ visibility: 200 });
      const worker = stage().worker(queue, () => {});
      const events = eventsOf(worker);
      await stage().advance(6000);
      expect(events.map(([name]) => name)).toEqual(["stalled", "dead"]);
      expect(await queue.dead.list()).toMatchObject([{ id: "0", attempt: 2, lastError: "Error: no" }]);
    });

    test.each([
      ["all lapsed", 6, 0, 6],
      ["one waits", 6, 1, 6],
      ["half of them wait", 6, 6, 6],
      ["few lapsed", 1, 6, 6],
      ["fewer than asked for", 2, 2, 4],
      ["an odd number", 7, 0, 7],
    ])("a claim is filled up: %s", async (_, lapsed, waiting, claimed) => {
      const queue = stage().queue();
      await fill(queue, lapsed);
      await queue.claim({ limit: 10, visibility: 100 });
      await stage().advance(100);
      await queue.addBulk(Array.from({ length: waiting }, (_, i) => ({ payload: i, id: `w${i}` })));
      const limit = Math.max(6, claimed);
      const claims = await queue.claim({ limit });
      const half = Math.min(lapsed, Math.ceil(limit / 2));
      const fresh = Math.min(waiting, limit - half);
      const rest = Math.min(lapsed - half, limit - half - fresh);
      const wanted = [...Array(half).fill(true), ...Array(fresh).fill(false), ...Array(rest).fill(true)];
      expect(claims.map(({ hasLapsed }) => hasLapsed)).toEqual(wanted);
      expect(new Set(claims.map(({ id }) => id)).size).toBe(claimed);
    });

    test("dead messages take no place in a claim", async () => {
      const queue = stage().queue();
      await fill(queue, 5, { attempts: 1 });
      await queue.claim({ limit: 5, visibility: 100 });
      await stage().advance(1);
      await queue.addBulk([1, 2, 3, 4].map((payload) => ({ payload, id: `good${payload}` })));
      await queue.claim({ limit: 4, visibility: 100 });
      await stage().advance(100);
      const claims = await queue.claim({ limit: 4 });
      expect(claims.map(({ id }) => id)).toEqual(["good1", "good2", "good3", "good4"]);
      expect(await queue.counts()).toMatchObject({ dead: 5, claimed: 4 });
    });
  });
}
