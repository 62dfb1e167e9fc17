import { expect, test } from "vitest";
import { type Opened, staged, toldBy } from "./stage.ts";

/** `open`, `close` and `disable`, over one store or none. */
export function orderSuite(name: string, open: () => Promise<Opened>): void {
  const stage = staged(open);
  const good = { state: "closed", calls: 0, failures: 0, slow: 0, retryAfterMs: 0 };

  test(`${name}: open() rejects calls for one cooldown, and a successful probe closes the circuit`, async () => {
    const breaker = stage().breaker();
    const events = toldBy(breaker);
    await stage().calls(breaker, 3);
    await breaker.open();
    expect(breaker.stats()).toEqual({ state: "open", calls: 3, failures: 0, slow: 0, retryAfterMs: 5000 });
    expect(await stage().call(breaker)).toBe("OPEN");
    stage().pass(4000);
    await breaker.open();
    expect(breaker.stats()).toMatchObject({ state: "open", retryAfterMs: 5000 });
    stage().pass(5000);
    expect(await stage().call(breaker)).toBe("good");
    expect(breaker.stats()).toEqual(good);
    expect(events.filter((each) => each !== "halfOpen")).toEqual(["open", "reject", "close"]);
  });

  test(`${name}: close() ends the cooldown with an empty window, and keeps the window of a closed circuit`, async () => {
    const breaker = stage().breaker({ failures: 2 });
    await stage().calls(breaker, 2, { isBad: true });
    expect(breaker.stats().state).toBe("open");
    await breaker.close();
    expect(breaker.stats()).toEqual(good);
    expect(await stage().call(breaker, { isBad: true })).toBe("bad");
    await breaker.close();
    expect(breaker.stats()).toMatchObject({ state: "closed", calls: 1, failures: 1 });
    expect(await stage().call(breaker, { isBad: true })).toBe("bad");
    expect(breaker.stats()).toMatchObject({ state: "open", calls: 2, failures: 2 });
  });

  test(`${name}: a disabled breaker lets all calls pass and counts none, until it is enabled`, async () => {
    const breaker = stage().breaker({ failures: 1 });
    await breaker.open();
    breaker.disable();
    expect(breaker.enabled).toBe(false);
    expect(await stage().calls(breaker, 2, { isBad: true })).toEqual(["bad", "bad"]);
    expect(breaker.stats()).toMatchObject({ state: "open", calls: 0, failures: 0 });
    breaker.enable();
    expect(breaker.enabled).toBe(true);
    expect(await stage().call(breaker)).toBe("OPEN");
  });
}
