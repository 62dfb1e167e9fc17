import { describe, expect, test } from "vitest";
import type { Breaker, BreakerOptions } from "../../../src/entries/index.ts";
import { Held, type Opened, staged, toldBy } from "./stage.ts";

const BAD = { isBad: true };

/** The promises of a quorum to processes that share a circuit. */
export function quorumSuite(name: string, open: () => Promise<Opened>): void {
  describe(`breakers with a quorum, ${name}`, () => {
    const stage = staged(open);
    const fleet = (processes: number, options: Partial<BreakerOptions> = {}) =>
      Array.from({ length: processes }, () => stage().breaker({ quorum: 0.5, minimumCalls: 4, ...options }));
    const states = (breakers: readonly Breaker[]) => breakers.map((each) => each.stats().state);
    const good = async (breakers: readonly Breaker[]) => {
      for (const breaker of breakers) expect(await stage().call(breaker)).toBe("good");
    };

    test("a sick process, however much it reports, opens for itself alone, and says so", async () => {
      const [sick, ...healthy] = fleet(4);
      await good(healthy);
      const events = toldBy(sick!);
      for (let call = 0; call < 100; call++) await stage().call(sick!, BAD);
      await expect(sick!.run(() => 1)).rejects.toMatchObject({
        code: "OPEN",
        message: expect.stringContaining("the circuit of this process alone is open"),
      });
      expect(sick!.stats()).toMatchObject({
        state: "open",
        calls: 4,
        failures: 4,
        degraded: true,
        processes: 4,
        failing: 1,
      });
      expect(events.filter((each) => each !== "reject")).toEqual(["open"]);
      await good(healthy);
      expect(healthy.map((each) => each.stats())).toMatchObject(
        Array(3).fill({ state: "closed", degraded: false, failing: 1 }),
      );
      expect(await fleet(1)[0]!.ready()).toMatchObject({ state: "closed" });
    });

    test("opens for all when more than the quorum see failures, also for those that see none and those that are new", async () => {
      const breakers = fleet(5);
      await good(breakers.slice(0, 2));
      for (const breaker of breakers.slice(2, 4)) await stage().calls(breaker, 4, BAD);
      expect(breakers[0]!.stats().state).toBe("closed");
      await stage().call(breakers[4]!, BAD);
      expect(breakers[4]!.stats()).toMatchObject({ state: "open", degraded: false, processes: 5, failing: 3 });
      for (const breaker of breakers) await breaker.flush();
      expect(states(breakers)).toEqual(Array(5).fill("open"));
      expect(await stage().call(breakers[0]!)).toBe("OPEN");
      expect((await fleet(1)[0]!.ready()).state).toBe("open");
    });

    test("shares are counted by process: neither the calls of a sick one nor those of a healthy one outweigh others", async () => {
      const [busy, ...sick] = fleet(3, { failureRatio: 0.5 });
      await stage().calls(busy!, 200);
      for (const breaker of sick) await stage().call(breaker, BAD);
      expect(sick[1]!.stats()).toMatchObject({ state: "open", failures: 2, processes: 3, failing: 2 });
      expect(sick[1]!.stats().calls).toBe(202);
    });

    test("a fleet of one opens by its own calls; of two, one cannot open for both", async () => {
      const [one, other] = fleet(2);
      await stage().calls(one!, 3, BAD);
      expect(one!.stats().state).toBe("closed");
      await good([other!]);
      await stage().call(one!, BAD);
      await good([other!]);
      expect(one!.stats()).toMatchObject({ state: "open", degraded: true });
      await stage().calls(other!, 3, BAD);
      expect(other!.stats()).toMatchObject({ state: "open", degraded: false, processes: 2, failing: 2 });
      const [single] = fleet(1, { name: "single" });
      await stage().calls(single!, 4, BAD);
      expect(single!.stats()).toMatchObject({ state: "open", degraded: false, processes: 1, failing: 1 });
    });

    test.each([
      [0, 1],
      [0.25, 2],
      [0.5, 3],
      [1, 4],
    ])("of four processes a quorum of %d is %i", async (quorum, wanted) => {
      const breakers = fleet(4, { quorum, minimumCalls: 1 });
      await good(breakers);
      for (const [i, breaker] of breakers.entries()) {
        expect({ i, state: breakers[3]!.stats().state }).toEqual({ i, state: "closed" });
        await stage().calls(breaker, 2, BAD);
        await breakers[3]!.flush();
        if (i + 1 === wanted) break;
      }
      expect(breakers[3]!.stats()).toMatchObject({ state: "open", failing: wanted });
    });

    test("a process that dies, or calls no more, is no longer counted after a span and a sixteenth of it", async () => {
      const [sick, other, ...dead] = fleet(6, { failures: 2, failureRatio: undefined } as Partial<BreakerOptions>);
      await good(dead);
      await good([other!]);
      stage().pass(9000);
      await good([other!]);
      stage().pass(1625);
      await stage().calls(sick!, 2, BAD);
      expect(sick!.stats()).toMatchObject({ state: "open", degraded: true, processes: 2, failing: 1 });
      stage().pass(9000);
      await stage().call(sick!);
      expect(sick!.stats()).toMatchObject({ state: "open", degraded: false, processes: 1, failing: 1 });
    });

    test("processes that never call, and monitors, have no voice", async () => {
      const [sick, ...idle] = fleet(4);
      for (const breaker of idle) await breaker.ready();
      await stage().calls(sick!, 4, BAD);
      for (const breaker of idle) await breaker.flush();
      expect(idle.map((each) => each.stats())).toMatchObject(
        Array(3).fill({ state: "open", processes: 1, failing: 1 }),
      );
    });

    test("a process that sees failures no more says so with its next report", async () => {
      const [one, other, third] = fleet(3, { minimumCalls: 1000 });
      await good([third!]);
      await stage().call(one!, BAD);
      expect(one!.stats()).toMatchObject({ processes: 2, failing: 1 });
      await stage().calls(one!, 2);
      expect(one!.stats()).toMatchObject({ processes: 2, failing: 0 });
      await stage().call(other!, BAD);
      expect(other!.stats()).toMatchObject({ state: "closed", processes: 3, failing: 1 });
    });

    test("voices of the time before the circuit closed do not open it again", async () => {
      const [one, other, third] = fleet(3, { cooldown: "1s" });
      const late = new Held(third!);
      await stage().calls(one!, 2, BAD);
      await stage().calls(third!, 4, BAD);
      await stage().calls(other!, 4, BAD);
      expect(other!.stats()).toMatchObject({ state: "open", degraded: false });
      stage().pass(1000);
      await one!.flush();
      expect(await stage().call(one!)).toBe("good");
      expect(one!.stats()).toMatchObject({ state: "closed", processes: 0, failing: 0 });
      await late.fail();
      await third!.flush();
      await stage().calls(one!, 4);
      expect(one!.stats()).toMatchObject({ state: "closed", failing: 0 });
    });

    test("a process that opened for itself probes for itself, with a growing cooldown, and closes for itself", async () => {
      const [sick, ...healthy] = fleet(3, { cooldown: { first: "1s", jitter: 0 } });
      await good(healthy);
      await stage().calls(sick!, 4, BAD);
      stage().pass(1000);
      await good(healthy);
      expect(await stage().call(sick!, BAD)).toBe("bad");
      expect(sick!.stats()).toMatchObject({ state: "open", retryAfterMs: 2000, degraded: true });
      stage().pass(2000);
      expect(await stage().call(sick!)).toBe("good");
      expect(sick!.stats()).toMatchObject({ state: "closed", degraded: false });
      await good([sick!, ...healthy]);
      expect(sick!.stats().failing).toBe(0);
    });

    test("while a process rejects its own calls it keeps its voice", async () => {
      const [sick, other, ...healthy] = fleet(3, { cooldown: "1h" });
      await good(healthy);
      await stage().calls(sick!, 4, BAD);
      for (let second = 0; second < 30; second++) {
        stage().pass(1000);
        await stage().call(sick!);
        await good(healthy);
      }
      expect(healthy[0]!.stats()).toMatchObject({ state: "closed", processes: 2, failing: 1 });
      await stage().call(other!, BAD);
      expect(other!.stats()).toMatchObject({ state: "open", processes: 3, failing: 2 });
    });

    test("close() closes it where it was opened for one process; close({ for }) and reset() do so everywhere", async () => {
      const opened = async () => {
        const [sick, other] = fleet(2);
        await good([other!]);
        await stage().calls(sick!, 4, BAD);
        expect(sick!.stats()).toMatchObject({ state: "open", degraded: true });
        return [sick!, other!] as const;
      };
      const [first] = await opened();
      await first.close();
      expect(first.stats()).toMatchObject({ state: "closed", degraded: false });
      await first.reset();
      const [second, other] = await opened();
      await other.close({ for: "1m" });
      await second.flush();
      expect(await stage().calls(second, 9, BAD)).toEqual(Array(9).fill("bad"));
      await other.reset();
      await second.flush();
      const [third, last] = await opened();
      await last.reset();
      await third.flush();
      expect(third.stats()).toMatchObject({ state: "closed", calls: 0, degraded: false });
    });

    test("a process without the quorum decides by the sum, as before, for all", async () => {
      const [sick, other] = fleet(2);
      const old = stage().breaker({ minimumCalls: 4 });
      const isSum = (stage().opened.modes as { quorum?: number } | undefined)?.quorum === undefined;
      await good([other!]);
      await stage().calls(sick!, 4, BAD);
      expect(await stage().call(old)).toBe("good");
      expect(old.stats().state).toBe(isSum ? "open" : "closed");
    });
  });
}
