import { describe, expect, test } from "vitest";
import { Held, type Opened, staged, toldBy } from "./stage.ts";

const BAD = { isBad: true };

/** The promises of one breaker, over one store or none. */
export function breakerSuite(name: string, open: () => Promise<Opened>): void {
  describe(`one breaker, ${name}`, () => {
    const stage = staged(open);

    test("a call returns the result of its function, rejects as it does, and never throws synchronously", async () => {
      const breaker = stage().breaker();
      const error = new Error("no");
      expect(await breaker.run(() => 7)).toBe(7);
      expect(await breaker.run(async () => "later")).toBe("later");
      await expect(breaker.run(() => Promise.reject(error))).rejects.toBe(error);
      const throwing = breaker.run(() => {
        throw error;
      });
      await expect(throwing).rejects.toBe(error);
      await breaker.flush();
      expect(breaker.stats()).toMatchObject({ state: "closed", calls: 4, failures: 2, slow: 0, retryAfterMs: 0 });
    });

    test("a call counts until its span is over, exact to the ms", async () => {
      const breaker = stage().breaker({ failures: 3 });
      await stage().call(breaker, BAD);
      stage().pass(1);
      await stage().call(breaker, BAD);
      stage().pass(9999);
      expect(await stage().call(breaker, BAD)).toBe("bad");
      expect(breaker.stats()).toMatchObject({ state: "closed", failures: 2 });
      expect(await stage().call(breaker, BAD)).toBe("bad");
      expect(breaker.stats()).toMatchObject({ state: "open" });
    });

    test("an open circuit rejects with the remaining time, and lets a probe through exactly when that is over", async () => {
      const breaker = stage().breaker({ failures: 1 });
      await stage().call(breaker, BAD);
      for (const leftMs of [5000, 4999, 1]) {
        stage().opened.clock.nowMs += breaker.stats().retryAfterMs - leftMs;
        const error = { code: "OPEN", retryAfterMs: leftMs, transient: true, applied: "no" };
        await expect(breaker.run(() => "never")).rejects.toMatchObject(error);
      }
      stage().pass(1);
      expect(await stage().call(breaker)).toBe("good");
      expect(breaker.stats()).toMatchObject({ state: "closed", calls: 0, failures: 0, slow: 0, retryAfterMs: 0 });
    });

    test("a failed probe opens a half-open circuit again for a whole cooldown", async () => {
      const breaker = stage().breaker({ failures: 1 });
      await stage().call(breaker, BAD);
      stage().pass(5000);
      expect(await stage().call(breaker, BAD)).toBe("bad");
      expect(breaker.stats()).toMatchObject({ state: "open", retryAfterMs: 5000 });
      stage().pass(4999);
      expect(await stage().call(breaker)).toBe("OPEN");
      stage().pass(1);
      expect(await stage().calls(breaker, 2)).toEqual(["good", "good"]);
    });

    test("each failed probe makes the cooldown longer, up to the longest one; a circuit that closed begins anew", async () => {
      const cooldown = { first: "1s", factor: 3, longest: "5s", jitter: 0 } as const;
      const breaker = stage().breaker({ failures: 1, cooldown });
      for (let round = 0; round < 2; round++) {
        await stage().call(breaker, BAD);
        for (const waitMs of [1000, 3000, 5000, 5000]) {
          expect(breaker.stats()).toMatchObject({ state: "open", retryAfterMs: waitMs });
          stage().pass(waitMs - 1);
          expect(await stage().call(breaker)).toBe("OPEN");
          stage().pass(1);
          expect(await stage().call(breaker, BAD)).toBe("bad");
        }
        stage().pass(5000);
        expect(await stage().call(breaker)).toBe("good");
        expect(breaker.stats().state).toBe("closed");
      }
    });

    test("jitter makes each cooldown shorter, at most by its share, and no two alike", async () => {
      const cooldown = { first: "10s", factor: 1, jitter: 0.5 } as const;
      const breaker = stage().breaker({ failures: 1, cooldown });
      await stage().call(breaker, BAD);
      const waits: number[] = [];
      for (let opening = 0; opening < 12; opening++) {
        const { retryAfterMs } = breaker.stats();
        waits.push(retryAfterMs);
        stage().pass(retryAfterMs);
        expect(await stage().call(breaker, BAD)).toBe("bad");
      }
      expect(new Set(waits).size).toBe(12);
      expect(Math.min(...waits)).toBeGreaterThanOrEqual(5000);
      expect(Math.max(...waits)).toBeLessThanOrEqual(10_000);
      expect(Math.max(...waits) - Math.min(...waits)).toBeGreaterThan(2500);
    });

    test("at most `probes` calls run in a half-open circuit; when all succeed, the window is empty", async () => {
      const breaker = stage().breaker({ failures: 2, probes: 3 });
      await stage().calls(breaker, 2, BAD);
      stage().pass(5000);
      const held = Array.from({ length: 5 }, () => new Held(breaker));
      expect(await Promise.all(held.slice(3).map(({ ended }) => ended))).toEqual(["OPEN", "OPEN"]);
      expect(held.map(({ hasBegun }) => hasBegun)).toEqual([true, true, true, false, false]);
      await held[0]!.end();
      await held[1]!.end();
      stage().pass(1000);
      expect(await stage().call(breaker)).toBe("OPEN");
      await held[2]!.end();
      await breaker.flush();
      expect(await stage().call(breaker, BAD)).toBe("bad");
      expect(breaker.stats()).toMatchObject({ state: "closed", calls: 1, failures: 1 });
    });

    test("one failed probe of several opens the circuit, whatever the others do", async () => {
      const breaker = stage().breaker({ failures: 1, probes: 2 });
      await stage().call(breaker, BAD);
      stage().pass(5000);
      const [one, other] = [new Held(breaker), new Held(breaker)];
      await breaker.flush();
      await one.fail();
      await breaker.flush();
      await other.end();
      await breaker.flush();
      expect(breaker.stats()).toMatchObject({ state: "open", retryAfterMs: 5000 });
    });

    test("a call that began before the circuit opened and ends after it closed is in no window", async () => {
      const breaker = stage().breaker({ failures: 2 });
      const old = new Held(breaker);
      await breaker.flush();
      await stage().calls(breaker, 2, BAD);
      stage().pass(5000);
      expect(await stage().call(breaker)).toBe("good");
      await old.fail();
      await breaker.flush();
      expect(breaker.stats()).toMatchObject({ state: "closed", calls: 0, failures: 0 });
    });

    test("isFailure: a rejection that is no failure is a success; if isFailure throws, it is a failure", async () => {
      const isFailure = ({ message }: Error) => {
        if (message === "odd") throw new Error("isFailure itself");
        return message === "bad";
      };
      const breaker = stage().breaker({ failures: 2, isFailure: isFailure as (error: unknown) => boolean });
      for (const message of ["404", "odd"])
        await expect(breaker.run(() => Promise.reject(new Error(message)))).rejects.toThrow(message);
      await breaker.flush();
      expect(breaker.stats()).toMatchObject({ state: "closed", calls: 2, failures: 1 });
    });

    test("signal: an abort ends the call, which does not count, and frees its probe; an earlier abort prevents the call", async () => {
      const breaker = stage().breaker({ failures: 1 });
      const [first, second] = [new AbortController(), new AbortController()];
      const plain = new Held(breaker, first.signal);
      await breaker.flush();
      first.abort(new Error("enough"));
      expect(await plain.ended).toBe("enough");
      await breaker.flush();
      expect(breaker.stats()).toMatchObject({ calls: 0, failures: 0 });
      const late = new Held(breaker, first.signal);
      expect(await late.ended).toBe("enough");
      expect(late.hasBegun).toBe(false);

      await stage().call(breaker, BAD);
      stage().pass(5000);
      const probe = new Held(breaker, second.signal);
      await breaker.flush();
      second.abort(new Error("enough"));
      expect(await probe.ended).toBe("enough");
      await breaker.flush();
      stage().pass(100);
      expect(await stage().call(breaker)).toBe("good");
      expect(breaker.stats().state).toBe("closed");
      const heeding = breaker.run(async (signal) => signal?.aborted, { signal: new AbortController().signal });
      expect(await heeding).toBe(false);
    });

    test("a running call counts as slow from the ms in which it became slow, and not again at its end", async () => {
      const breaker = stage().breaker({ slowRatio: 0.5, slowCall: 100, minimumCalls: 3 });
      const opening: unknown[] = [];
      breaker.on("open", (stats) => void opening.push(stats));
      const hanging = Array.from({ length: 2 }, () => new Held(breaker));
      await breaker.flush();
      stage().pass(100);
      await stage().call(breaker);
      expect(breaker.stats()).toMatchObject({ state: "closed", calls: 1, slow: 0 });
      stage().pass(1);
      await stage().call(breaker);
      expect(opening).toMatchObject([{ calls: 3, failures: 0, slow: 2 }]);
      expect(await Promise.all(hanging.map((each) => each.end()))).toEqual(["good", "good"]);
      await breaker.flush();
      expect(breaker.stats()).toMatchObject({ state: "open", slow: 2 });
    });

    test("a slow call that fails later counts as one call, and then as a failure", async () => {
      const breaker = stage().breaker({ slowRatio: 0.9, slowCall: 100, failures: 2 });
      const hanging = new Held(breaker);
      stage().pass(6000);
      await stage().call(breaker);
      expect(breaker.stats()).toMatchObject({ calls: 2, failures: 0, slow: 1 });
      stage().pass(5000);
      await hanging.fail();
      await breaker.flush();
      expect(breaker.stats()).toMatchObject({ calls: 1, failures: 1, slow: 0 });
    });

    test("events: open with the counts that opened it, halfOpen, close, and each rejection", async () => {
      const breaker = stage().breaker({ minimumCalls: 4 });
      const reported = toldBy(breaker);
      const opening: unknown[] = [];
      breaker.on("open", (stats) => void opening.push(stats));
      await stage().call(breaker);
      await stage().calls(breaker, 3, BAD);
      expect(opening).toMatchObject([{ state: "open", calls: 4, failures: 3, slow: 0, retryAfterMs: 5000 }]);
      await stage().call(breaker);
      stage().pass(5000);
      await stage().call(breaker, BAD);
      stage().pass(5000);
      await stage().call(breaker);
      expect(reported).toEqual(["open", "reject", "halfOpen", "open", "halfOpen", "close"]);
    });

    test("while the clock steps back no time passes, and nothing waits longer", async () => {
      const breaker = stage().breaker({ failures: 2 });
      await stage().call(breaker, BAD);
      stage().pass(-3_600_000);
      await stage().call(breaker, BAD);
      expect(breaker.stats()).toMatchObject({ state: "open", retryAfterMs: 5000 });
      for (const ms of [1000, -86_400_000]) {
        stage().pass(ms);
        await breaker.flush();
        breaker.stats();
      }
      stage().pass(4000);
      expect(await stage().call(breaker)).toBe("good");
      expect(breaker.stats().state).toBe("closed");
    });
  });
}
