import { describe, expect, test } from "vitest";
import type { WorkerEvents } from "../../../src/entries/index.ts";
import type { OpenStore } from "../../harness/clock/stepped-stores.ts";
import { staged } from "./suite.ts";
import { fill } from "./suite-work.ts";

const WRONG = new TypeError("listener");
const LISTENERS = {
  throws: () => {
    throw WRONG;
  },
  rejects: () => Promise.reject(WRONG),
};

/** A worker goes on whatever the listeners of its events do, over one store. */
export function listenersSuite(name: string, open: () => Promise<OpenStore>): void {
  describe(`listeners, ${name}`, () => {
    const stage = staged(open);

    test.each(Object.entries(LISTENERS))(
      "the listener of each event %s, and no message is lost",
      async (_how, fail) => {
        const queue = stage().queue({ attempts: 2, backoff: 10 });
        const done: string[] = [];
        await fill(queue, 20);
        // Its claim has lapsed, so that there are events `stalled` and `dead`.
        await queue.add("lapses", { id: "lapses", priority: 9, attempts: 1 });
        await queue.claim({ visibility: 100 });
        await stage().advance(3000);
        const handler = ({ id, attempt }: { id: string; attempt: number }) => {
          if (Number(id) % 2 === 0 && attempt === 1) throw new Error("job");
          if (id === "7") throw new Error("job");
          done.push(id);
        };
        const worker = stage().worker(queue, handler, { concurrency: 4, prefetch: 8, lagAfter: 1000 });
        const errors: unknown[] = [];
        const failed = new Set<string>();
        const names = ["claimed", "started", "completed", "failed", "retry", "dead", "stalled", "lag"] as const;
        for (const event of names)
          worker.on(event, (): unknown => {
            failed.add(event);
            return fail();
          });
        worker.on("error", ({ error }) => void errors.push(error));
        await stage().advance(6000);
        const expected = Array.from({ length: 20 }, (_, i) => `${i}`).filter((id) => id !== "7");
        expect(done.sort()).toEqual(expected.sort());
        expect(await queue.counts()).toMatchObject({ waiting: 0, due: 0, claimed: 0, dead: 2 });
        expect([...failed].sort()).toEqual([...names].sort());
        for (const event of names) {
          const message = `QueueWorker "mail" on: the listener of "${event}" failed: TypeError: listener`;
          expect(errors).toContainEqual(expect.objectContaining({ code: "ARGUMENT", message, cause: WRONG }));
        }
      },
    );

    test.each(Object.entries(LISTENERS))("an `error` listener %s, and the worker asks again", async (_how, fail) => {
      const cut = stage().cuttable();
      const queue = stage().queueOn(cut.store);
      const handled: unknown[] = [];
      const worker = stage().worker(queue, ({ payload }) => void handled.push(payload));
      const heard: WorkerEvents["error"][] = [];
      worker.on("error", (event): unknown => {
        heard.push(event);
        return fail();
      });
      await stage().settle();
      cut.isCut = true;
      await stage().advance(20_000);
      expect(heard.length).toBeGreaterThan(1);
      expect(heard).toEqual(heard.map(() => ({ error: expect.objectContaining({ code: "UNAVAILABLE" }) })));
      cut.isCut = false;
      await queue.add("after");
      await stage().advance(20_000);
      expect(handled).toEqual(["after"]);
    });
  });
}
