import { describe, expect, test } from "vitest";
import type { BreakerOptions } from "../../../src/entries/index.ts";
import { Held, type Opened, staged, toldBy } from "./stage.ts";

const BAD = { isBad: true };

/** What breakers of one name promise to each other. */
export function fleetSuite(name: string, open: () => Promise<Opened>): void {
  describe(`breakers of several processes, ${name}`, () => {
    const stage = staged(open);
    const fleet = (processes: number, options: Partial<BreakerOptions> = {}) =>
      Array.from({ length: processes }, () => stage().breaker(options));

    test("open together by the sum of their calls, and each process learns it with its next report", async () => {
      const breakers = fleet(4, { minimumCalls: 8, quorum: undefined });
      for (const breaker of breakers) await stage().call(breaker);
      for (const breaker of breakers) await stage().call(breaker, BAD);
      expect(breakers.map((each) => each.stats().state)).toEqual(Array(4).fill("closed"));
      await stage().call(breakers[0]!, BAD);
      expect(breakers[0]!.stats()).toMatchObject({ state: "open", calls: 9, failures: 5 });
      stage().pass(100);
      for (const breaker of breakers.slice(1)) {
        expect(await stage().call(breaker)).toBe("good");
        expect(await stage().call(breaker)).toBe("OPEN");
      }
    });

    test("a process reports at most once in 100 ms; a report that opens the circuit is sent at once", async () => {
      const breaker = stage().breaker({ failures: 5 });
      const run = (isBad: boolean) => breaker.run(() => (isBad ? Promise.reject(new Error("bad")) : 1)).catch(() => {});
      await run(false);
      await breaker.flush();
      for (let i = 0; i < 50; i++) await run(false);
      const other = stage().breaker({ failures: 5 });
      await other.flush();
      expect(other.stats().calls).toBe(1);
      stage().pass(100);
      await run(false);
      await breaker.flush();
      await other.flush();
      expect(other.stats().calls).toBe(52);
      await Promise.all(Array.from({ length: 5 }, () => run(true)));
      await breaker.flush();
      expect(breaker.stats().state).toBe("open");
    });

    test("a new process that asks before its first call does not reach a service whose circuit is open", async () => {
      const [breaker] = fleet(1, { failures: 1 });
      await stage().call(breaker!, BAD);
      await breaker!.flush();
      const [asking, other] = fleet(2, { failures: 1 });
      await asking!.flush();
      expect(await stage().call(asking!)).toBe("OPEN");
      expect(await stage().call(other!)).toBe("good");
    });

    test("ready() lets a new process know of an open circuit before its first call, in one request, and later in none", async () => {
      const [breaker] = fleet(1, { failures: 1 });
      await stage().call(breaker!, BAD);
      const fresh = fleet(1, { failures: 1 })[0]!;
      const answers = await Promise.all([fresh.ready(), fresh.ready()]);
      expect(answers).toMatchObject(Array(2).fill({ state: "open", retryAfterMs: 5000, degraded: false }));
      let reached = 0;
      await expect(fresh.run(() => reached++)).rejects.toMatchObject({ code: "OPEN" });
      expect(reached).toBe(0);
      await breaker!.close();
      expect((await fresh.ready()).state).toBe("open");
    });

    test("probes are counted over all processes, and enough successes close the circuit for all", async () => {
      const breakers = fleet(3, { failures: 1, probes: 2 });
      await stage().call(breakers[0]!, BAD);
      for (const breaker of breakers) await breaker.flush();
      stage().pass(5000);
      const held = breakers.map((each) => new Held(each));
      for (const breaker of breakers) await breaker.flush();
      expect(held.filter(({ hasBegun }) => hasBegun)).toHaveLength(2);
      await Promise.all(held.map((each) => each.end()));
      for (const breaker of breakers) await breaker.flush();
      stage().pass(100);
      for (const breaker of breakers) expect(await stage().call(breaker)).toBe("good");
      expect(breakers.map((each) => each.stats().state)).toEqual(Array(3).fill("closed"));
    });

    test("a process dies while it probes: others wait for its lease only, and its late result has no effect", async () => {
      const [dead, alive] = fleet(2, { failures: 1, lease: "2s" });
      await stage().call(dead!, BAD);
      await alive!.flush();
      stage().pass(5000);
      const probe = new Held(dead!);
      await dead!.flush();
      expect(probe.hasBegun).toBe(true);
      expect(await stage().call(alive!)).toBe("OPEN");
      stage().pass(1999);
      expect(await stage().call(alive!)).toBe("OPEN");
      stage().pass(1);
      const other = new Held(alive!);
      await alive!.flush();
      expect(other.hasBegun).toBe(true);
      await probe.fail();
      await dead!.flush();
      expect(dead!.stats().state).toBe("half-open");
      await other.end();
      await alive!.flush();
      expect(alive!.stats().state).toBe("closed");
    });

    test("names and spans have separate circuits, also hostile names; an expired circuit has no effect", async () => {
      const names = ["a", "a:breaker", "{a}", " ", "*", "%", "ü".repeat(5000)];
      const breakers = names.map((each) => stage().breaker({ name: each, failures: 1 }));
      breakers.push(stage().breaker({ name: "a", span: "20s", failures: 1 }));
      for (const breaker of breakers) expect(await stage().call(breaker)).toBe("good");
      await stage().call(breakers[0]!, BAD);
      for (const breaker of breakers) await breaker.flush();
      expect(breakers.map((each) => each.stats().state)).toEqual(["open", ...Array(7).fill("closed")]);
      const { expiries } = stage().opened as { expiries?: () => Promise<Map<string, number>> };
      const kept = await expiries!();
      expect(kept.size).toBe(names.length + 1);
      for (const expireAtMs of kept.values()) expect(expireAtMs).toBeLessThanOrEqual(stage().nowMs + 86_405_000);
    });

    test("open() and close() act on all processes, which learn it with their next report", async () => {
      const [one, other] = fleet(2);
      await one!.open();
      await other!.flush();
      expect(await stage().call(other!)).toBe("OPEN");
      await other!.close();
      await one!.flush();
      expect([one!.stats().state, await stage().call(one!)]).toEqual(["closed", "good"]);
    });

    test("open({ for }), close({ for }) and reset() act on all processes, also on those that come later", async () => {
      const [one, other] = fleet(2, { failures: 1 });
      await one!.open({ for: "1h" });
      const later = fleet(1, { failures: 1 })[0]!;
      expect(await later.ready()).toMatchObject({ state: "open", forcedMs: 3_600_000 });
      await later.close({ for: "1h" });
      for (const breaker of [one!, other!]) await breaker.flush();
      expect(await stage().call(one!, BAD)).toBe("bad");
      expect(await stage().call(other!, BAD)).toBe("bad");
      expect([one, other].map((each) => each!.stats())).toMatchObject(
        Array(2).fill({ state: "closed", forcedMs: 3_600_000 }),
      );
      await one!.reset();
      await other!.flush();
      expect(other!.stats()).toMatchObject({ state: "closed", calls: 0, forcedMs: 0 });
      await stage().call(other!, BAD);
      expect(other!.stats().state).toBe("open");
    });

    test("each process emits the events when it learns of them", async () => {
      const [one, other] = fleet(2, { failures: 1 });
      const reported = [toldBy(one!), toldBy(other!)];
      await stage().call(one!, BAD);
      await other!.flush();
      stage().pass(5000);
      await stage().call(other!);
      await one!.flush();
      expect(reported).toEqual([
        ["open", "close"],
        ["open", "halfOpen", "close"],
      ]);
    });
  });
}
