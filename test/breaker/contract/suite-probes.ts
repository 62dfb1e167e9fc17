import { describe, expect, test } from "vitest";
import type { Breaker, BreakerOptions } from "../../../src/entries/index.ts";
import { Held, type Opened, staged } from "./stage.ts";

const BAD = { isBad: true };
const COOLDOWN_MS = 1000;

/** The promises of a half-open circuit with a quorum. */
export function probeSuite(name: string, open: () => Promise<Opened>): void {
  describe(`probes with a quorum, ${name}`, () => {
    const stage = staged(open);
    const states = (breakers: readonly Breaker[]) => breakers.map((each) => each.stats().state);
    /** Breakers whose circuit an outage has opened for all, at the end of its cooldown. */
    const opened = async (processes: number, options: Partial<BreakerOptions> = {}) => {
      const breakers = Array.from({ length: processes }, () =>
        stage().breaker({ quorum: 0.5, minimumCalls: 2, cooldown: COOLDOWN_MS, ...options }),
      );
      for (const breaker of breakers) expect(await stage().call(breaker)).toBe("good");
      for (let call = 0; call < 2; call++) for (const breaker of breakers) await stage().call(breaker, BAD);
      for (const breaker of breakers) await breaker.flush();
      expect(breakers.map((each) => each.stats())).toMatchObject(
        Array(processes).fill({ state: "open", degraded: false }),
      );
      stage().pass(COOLDOWN_MS);
      return breakers;
    };

    test("after an outage of all, one process that stays sick and always asks first keeps the circuit open for one cooldown", async () => {
      const [sick, healthy] = await opened(2);
      const ended: string[] = [];
      for (let second = 0; second < 60; second++) {
        await stage().call(sick!, BAD);
        ended.push(await stage().call(healthy!));
        stage().pass(COOLDOWN_MS);
      }
      expect(ended).toEqual(["OPEN", ...Array(59).fill("good")]);
      expect(sick!.stats()).toMatchObject({ state: "open", degraded: true });
    });

    test("a process whose probe failed waits a cooldown longer than the others, and then may probe", async () => {
      const [sick] = await opened(2);
      expect(await stage().call(sick!, BAD)).toBe("bad");
      expect(sick!.stats()).toMatchObject({ state: "open", retryAfterMs: COOLDOWN_MS });
      stage().pass(COOLDOWN_MS);
      expect(await stage().call(sick!)).toBe("OPEN");
      expect(sick!.stats().state).toBe("half-open");
      stage().pass(COOLDOWN_MS - 1);
      expect(await stage().call(sick!)).toBe("OPEN");
      expect(sick!.stats()).toMatchObject({ state: "half-open", retryAfterMs: 1 });
      stage().pass(1);
      expect(await stage().call(sick!)).toBe("good");
      expect(sick!.stats().state).toBe("closed");
    });

    test("while it waits it learns within `flush` that others closed the circuit", async () => {
      const [sick, healthy] = await opened(2);
      await stage().call(sick!, BAD);
      stage().pass(COOLDOWN_MS);
      const refused = await sick!.run(() => 1).catch((error) => error);
      expect(refused).toMatchObject({ code: "OPEN", retryAfterMs: 100 });
      expect(await stage().call(healthy!)).toBe("good");
      stage().pass(100);
      expect(await stage().call(sick!)).toBe("good");
    });

    test("a process whose probe outlasted its lease waits for others in the same way", async () => {
      const [sick, healthy] = await opened(2, { lease: "2s" });
      const late = new Held(sick!);
      await sick!.flush();
      expect(late.hasBegun).toBe(true);
      stage().pass(2000);
      expect(await stage().call(sick!)).toBe("OPEN");
      expect(await stage().call(healthy!)).toBe("good");
      await late.fail();
      await sick!.flush();
      expect(healthy!.stats().state).toBe("closed");
    });

    test("more probes: the circuit closes when the share of failed ones is at most the quorum", async () => {
      const [one, other, third, fourth] = await opened(4, { probes: 4 });
      expect(await stage().call(one!, BAD)).toBe("bad");
      expect(await stage().call(one!, BAD)).toBe("OPEN");
      stage().pass(COOLDOWN_MS - 1);
      expect(await stage().call(other!, BAD)).toBe("bad");
      stage().pass(COOLDOWN_MS - 1);
      expect([await stage().call(third!), third!.stats().state]).toEqual(["good", "half-open"]);
      expect(await stage().call(fourth!)).toBe("good");
      expect(fourth!.stats().state).toBe("closed");
    });

    test("more probes: it opens when the share is larger, and no more reach the service", async () => {
      const breakers = await opened(6, { probes: 3 });
      const ended: string[] = [];
      for (const breaker of breakers) {
        ended.push(await stage().call(breaker, BAD));
        stage().pass(COOLDOWN_MS - 1);
        if (breaker.stats().state === "open") break;
      }
      expect(ended).toEqual(["bad", "bad"]);
      for (const breaker of breakers) await breaker.flush();
      expect(states(breakers)).toEqual(Array(6).fill("open"));
    });

    test("with fewer processes than probes, more than the quorum of the processes open it; each counts once", async () => {
      const [sick, other] = await opened(2, { probes: 10 });
      for (let probe = 0; probe < 4; probe++) {
        expect(await stage().call(sick!, BAD)).toBe("bad");
        expect(sick!.stats().state).toBe("half-open");
        stage().pass(COOLDOWN_MS);
      }
      expect(await stage().calls(other!, 8)).toEqual(Array(8).fill("good"));
      expect(other!.stats().state).toBe("half-open");
      expect(await stage().call(other!)).toBe("good");
      expect(other!.stats().state).toBe("closed");
      const all = await opened(2, { probes: 10, name: "all" });
      for (const breaker of all) {
        expect(await stage().call(breaker, BAD)).toBe("bad");
        stage().pass(100);
      }
      expect(all[1]!.stats()).toMatchObject({ state: "open", degraded: false });
    });

    test.each([
      [0, 1],
      [0.25, 2],
      [1, 4],
    ])("of four probes of four processes a quorum of %d is %i", async (quorum, wanted) => {
      const breakers = await opened(4, { quorum, probes: 4 });
      for (const [i, breaker] of breakers.entries()) {
        expect(await stage().call(breaker, BAD)).toBe("bad");
        expect({ i, state: breaker.stats().state }).toEqual({ i, state: i + 1 < wanted ? "half-open" : "open" });
        stage().pass(COOLDOWN_MS - 1);
        if (i + 1 === wanted) break;
      }
    });

    test("a fleet of one, and processes without a quorum, wait no longer after a failed probe", async () => {
      const [single] = await opened(1);
      const { quorum } = (stage().opened.modes ?? {}) as { quorum?: number };
      const sum = quorum === undefined ? await opened(2, { quorum, name: "sum" }) : [];
      for (const breaker of [single!, ...sum.slice(0, 1)]) {
        expect(await stage().call(breaker, BAD)).toBe("bad");
        expect(breaker.stats().state).toBe("open");
        stage().pass(COOLDOWN_MS);
        expect(await stage().call(breaker)).toBe("good");
      }
    });

    test("a fleet that was one process when the circuit opened is more when others ask", async () => {
      const [sick] = await opened(1);
      const [healthy] = [stage().breaker({ quorum: 0.5, minimumCalls: 2, cooldown: COOLDOWN_MS })];
      await healthy!.flush();
      const ended: string[] = [];
      for (let second = 0; second < 9; second++) {
        await stage().call(sick!, BAD);
        ended.push(await stage().call(healthy!));
        stage().pass(COOLDOWN_MS);
      }
      expect(ended).toEqual(["OPEN", ...Array(8).fill("good")]);
    });

    test("open() begins anew: nobody waits longer than its cooldown", async () => {
      const [sick, healthy] = await opened(2);
      await stage().call(sick!, BAD);
      await healthy!.open();
      stage().pass(COOLDOWN_MS);
      await sick!.flush();
      expect(await stage().call(sick!)).toBe("good");
    });

    test("for a span after it closed as many processes count as before: the sick ones, which report first, do not open it", async () => {
      const [healthy, ...sick] = (await opened(6, { span: "10s", cooldown: "1m" })).slice(2);
      stage().pass(59_000);
      expect(await stage().call(healthy!)).toBe("good");
      stage().pass(5000);
      for (const breaker of sick) expect(await stage().calls(breaker, 3, BAD)).toEqual(["bad", "bad", "OPEN"]);
      expect(sick[2]!.stats()).toMatchObject({ state: "open", degraded: true, processes: 3, failing: 3 });
      stage().pass(4999);
      await stage().call(sick[0]!, BAD);
      expect(sick[0]!.stats()).toMatchObject({ state: "open", degraded: true, processes: 3, failing: 3 });
      stage().pass(100);
      await stage().call(sick[0]!, BAD);
      expect(sick[0]!.stats()).toMatchObject({ state: "open", degraded: false, processes: 3, failing: 3 });
    });

    test("a process that closed the circuit opens for itself, by its own calls", async () => {
      const [sick, ...healthy] = await opened(3);
      expect(await stage().call(sick!)).toBe("good");
      for (const breaker of healthy) await stage().calls(breaker, 2);
      expect(await stage().calls(sick!, 4, BAD)).toEqual(["bad", "bad", "OPEN", "OPEN"]);
      expect(sick!.stats()).toMatchObject({ state: "open", degraded: true, failing: 1 });
      expect(states(healthy)).toEqual(["closed", "closed"]);
    });
  });
}
