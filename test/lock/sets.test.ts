import { expect, test } from "vitest";
import { Lock, memoryStore, type Store } from "../../src/entries/index.ts";
import { lockKeyOf } from "../../src/holds/lock/lock-state.ts";

test("an extension of several locks is false if one of them ends while the answer for another is under way", async () => {
  const clock = { nowMs: Date.UTC(2100, 0) };
  const now = () => clock.nowMs;
  const server = memoryStore({ clock: now, monotonic: now, registry: false });
  const keyOfB = lockKeyOf(server, "b");
  /** `b` is got 300 ms after `a`, so it lasts longer. The answer to its extension comes when `a` has ended. */
  const store: Store = {
    ...server,
    leaseClock: now,
    async run(operation, key, input, options) {
      const answer = await server.run(operation, key, input, options);
      if (key !== keyOfB && operation.name === "hold/take") clock.nowMs += 300;
      if (key !== keyOfB || operation.name !== "hold/renew") return answer;
      await new Promise((resolve) => setImmediate(resolve)); // the other answer is there first
      clock.nowMs += 700;
      return answer;
    },
  };
  const locks = ["a", "b"].map((name) => new Lock(store, name));
  const held = (await Lock.all(locks, { watchdogLease: 1000 }).tryLock())!; // on the stepped clock
  expect(held.leftMs).toBeGreaterThan(600);
  expect(await held.extend(40)).toBe(false);
  expect(held.leftMs).toBe(0);
  expect(held.signal.reason).toMatchObject({ code: "LOST" });
});
