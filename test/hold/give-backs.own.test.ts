import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Lock, type MemoryStore, memoryStore, OrielError, Semaphore } from "../../src/entries/index.ts";
import type { Store } from "../../src/store/contract.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: Date.UTC(2100, 0) }));
afterEach(() => void vi.useRealTimers());

/** A connection to one server, and how often each request was sent over it. */
interface Link {
  store: Store;
  sent: Record<string, number>;
  fault: "none" | "unanswered" | "refused";
}

function linkTo(server: MemoryStore): Link {
  const link: Link = { sent: {}, fault: "none", store: undefined as unknown as Store };
  link.store = {
    monotonic: () => Date.now(),
    leaseClock: () => Date.now(),
    keyOf: server.keyOf,
    close: async () => {},
    async run(operation, key, input) {
      const step = operation.name.split("/")[1]!;
      link.sent[step] = (link.sent[step] ?? 0) + 1;
      if (link.fault === "refused") throw new OrielError("UNAVAILABLE", "down", { transient: true, applied: "no" });
      const answer = await server.run(operation, key, input);
      if (link.fault === "unanswered")
        throw new OrielError("DEADLINE", "no answer", { transient: true, applied: "unknown" });
      return answer;
    },
  };
  return link;
}

const openServer = () => memoryStore({ clock: () => Date.now(), monotonic: () => Date.now() });

test("the release of an extended hold is retried for as long as the extension may last", async () => {
  const server = openServer();
  const link = linkTo(server);
  const semaphore = new Semaphore(link.store, "exports", { limit: 1 });
  const held = await semaphore.acquire({ lease: "1s" });
  await held.extend("60s");
  link.fault = "refused";
  await expect(held.release()).rejects.toMatchObject({ code: "UNAVAILABLE" });
  await vi.advanceTimersByTimeAsync(20_000);
  link.fault = "none";
  await vi.advanceTimersByTimeAsync(400);
  expect(await new Semaphore(server, "exports", { limit: 1 }).tryAcquire()).not.toBeNull();
});

test.each(["unanswered", "refused"] as const)(
  "a waiter asks a server whose requests are %s every 50 to 100 ms",
  async (fault) => {
    const server = openServer();
    const held = (await new Lock(server, "nightly").tryLock({ lease: "1h" }))!;
    const link = linkTo(server);
    link.fault = fault;
    const waits = new Lock(link.store, "nightly").tryLock({ wait: "5s" });
    const refused = expect(waits).rejects.toMatchObject({ transient: true });
    await vi.advanceTimersByTimeAsync(6000);
    await refused;
    expect(link.sent.take).toBeGreaterThanOrEqual(49);
    expect(link.sent.take).toBeLessThanOrEqual(101);
    link.fault = "none";
    await held.release();
    await vi.advanceTimersByTimeAsync(400);
    expect(await new Lock(server, "nightly").tryLock()).not.toBeNull();
  },
);
