import { expect, test } from "vitest";
import { DelayQueue, memoryStore, OrielError } from "../../../src/entries/index.ts";
import type { Store } from "../../../src/store/contract.ts";
import { SteppedTimers } from "../contract/stepped-timers.ts";

const turnsOfLoop = async () => {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setTimeout(resolve, 0));
};

test.each(["no", "unknown"] as const)(
  "a closed worker reports each result that it gives up, if the store's failures are applied %s",
  async (applied) => {
    const clock = { nowMs: Date.UTC(2100, 0, 1) };
    const plain = memoryStore({ clock: () => clock.nowMs }) as Store;
    let isAway = false;
    const run = (async (operation, key, input, options) => {
      if (isAway) throw new OrielError("UNAVAILABLE", "away", { transient: true, applied });
      return plain.run(operation, key, input, options);
    }) as Store["run"];
    const timers = new SteppedTimers(clock, turnsOfLoop);
    const queue = new DelayQueue<string>({ ...plain, run }, "jobs", { shards: 2 }, timers);
    await queue.addBulk(["good", "bad", "waits"].map((payload, i) => ({ payload, id: `${i}` })));
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const handler = ({ payload }: { payload: string }) =>
      ended.then(() => {
        if (payload === "bad") throw new Error("no luck");
      });
    const worker = queue.process(handler, { concurrency: 2, prefetch: 1, visibility: "1m" });
    const reported: string[] = [];
    for (const name of ["completed", "retry", "dead", "lost"] as const)
      worker.on(name, ({ id, attempt }) => reported.push(`${name} ${id} ${attempt}`));
    await turnsOfLoop();
    isAway = true;
    end();
    let isClosed = false;
    const closing = worker.close().then(() => {
      isClosed = true;
    });
    for (let i = 0; i < 100 && !isClosed; i++) await timers.advance(100);
    await closing;
    // What no handler had begun is nobody's result.
    expect(reported.sort()).toEqual(["lost 0 1", "lost 1 1"]);
    isAway = false;
    clock.nowMs += 61_000;
    expect((await queue.claim({ limit: 10 })).map(({ attempt }) => attempt)).toEqual([2, 2, 2]);
    await plain.close();
  },
);
