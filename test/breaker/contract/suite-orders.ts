import { expect, test } from "vitest";
import { Held, type Opened, staged, toldBy } from "./stage.ts";

/** `open`, `close`, `reset` and `disable`, over one store or none. */
export function orderSuite(name: string, open: () => Promise<Opened>): void {
  const stage = staged(open);
  const good = { state: "closed", calls: 0, failures: 0, slow: 0, retryAfterMs: 0 };

  test(`${name}: open() rejects calls for one cooldown, and a successful probe closes the circuit`, async () => {
    const breaker = stage().breaker();
    const events = toldBy(breaker);
    await stage().calls(breaker, 3);
    await breaker.open();
    expect(breaker.stats()).toMatchObject({ state: "open", calls: 3, failures: 0, slow: 0, retryAfterMs: 5000 });
    expect(await stage().call(breaker)).toBe("OPEN");
    stage().pass(4000);
    await breaker.open();
    expect(breaker.stats()).toMatchObject({ state: "open", retryAfterMs: 5000 });
    stage().pass(5000);
    expect(await stage().call(breaker)).toBe("good");
    expect(breaker.stats()).toMatchObject(good);
    expect(events.filter((each) => each !== "halfOpen")).toEqual(["open", "reject", "close"]);
  });

  test(`${name}: close() ends the cooldown with an empty window, and keeps the window of a closed circuit`, async () => {
    const breaker = stage().breaker({ failures: 2 });
    await stage().calls(breaker, 2, { isBad: true });
    expect(breaker.stats().state).toBe("open");
    await breaker.close();
    expect(breaker.stats()).toMatchObject(good);
    expect(await stage().call(breaker, { isBad: true })).toBe("bad");
    await breaker.close();
    expect(breaker.stats()).toMatchObject({ state: "closed", calls: 1, failures: 1 });
    expect(await stage().call(breaker, { isBad: true })).toBe("bad");
    expect(breaker.stats()).toMatchObject({ state: "open", calls: 2, failures: 2 });
  });

  test(`${name}: open({ for }) rejects every call until its end, also probes; then a probe decides`, async () => {
    const breaker = stage().breaker();
    await breaker.open({ for: "1h" });
    expect(breaker.stats()).toMatchObject({ state: "open", retryAfterMs: 3_600_000, forcedMs: 3_600_000 });
    stage().pass(3_599_999);
    expect(await stage().call(breaker)).toBe("OPEN");
    stage().pass(1);
    expect(await stage().call(breaker)).toBe("good");
    expect(breaker.stats()).toMatchObject({ state: "closed", forcedMs: 0 });
  });

  test(`${name}: close({ for }) lets every call pass until its end, and counts them; then the window decides`, async () => {
    const breaker = stage().breaker({ failures: 3 });
    await breaker.open();
    await breaker.close({ for: "1m" });
    expect(breaker.stats()).toMatchObject({ state: "closed", forcedMs: 60_000 });
    expect(await stage().calls(breaker, 5, { isBad: true })).toEqual(Array(5).fill("bad"));
    stage().pass(59_999);
    expect(await stage().calls(breaker, 3, { isBad: true })).toEqual(Array(3).fill("bad"));
    expect(breaker.stats()).toMatchObject({ state: "closed", failures: 3, forcedMs: 1 });
    stage().pass(1);
    expect(await stage().call(breaker, { isBad: true })).toBe("bad");
    expect(breaker.stats()).toMatchObject({ state: "open", failures: 4, forcedMs: 0 });
  });

  test(`${name}: close() ends an order that keeps the circuit closed, and so does open()`, async () => {
    const breaker = stage().breaker({ failures: 1 });
    await breaker.close({ for: "1h" });
    await breaker.open();
    expect(await stage().call(breaker)).toBe("OPEN");
    await breaker.close({ for: "1h" });
    await breaker.close();
    expect(breaker.stats().forcedMs).toBe(0);
    await stage().call(breaker, { isBad: true });
    expect(breaker.stats().state).toBe("open");
  });

  test(`${name}: reset() empties the window of every state, and ends orders and grown cooldowns`, async () => {
    const breaker = stage().breaker({ failures: 2, cooldown: { first: "1s", jitter: 0 } });
    await stage().call(breaker, { isBad: true });
    await breaker.reset();
    expect(breaker.stats()).toMatchObject(good);
    await breaker.close({ for: "1h" });
    await breaker.reset();
    await stage().calls(breaker, 2, { isBad: true });
    stage().pass(1000);
    await stage().call(breaker, { isBad: true });
    expect(breaker.stats()).toMatchObject({ state: "open", retryAfterMs: 2000 });
    await breaker.reset();
    expect(breaker.stats()).toMatchObject(good);
    await stage().calls(breaker, 2, { isBad: true });
    expect(breaker.stats()).toMatchObject({ state: "open", retryAfterMs: 1000 });
  });

  test(`${name}: a call that began before reset() is in no window`, async () => {
    const breaker = stage().breaker({ failures: 1 });
    const old = new Held(breaker);
    await breaker.flush();
    await breaker.reset();
    await old.fail();
    await breaker.flush();
    expect(breaker.stats()).toMatchObject(good);
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
