import { expect, test } from "vitest";
import { Breaker, type BreakerOptions, memoryStore, OrielError } from "../../src/entries/index.ts";
import { START_MS } from "../harness/clock/stepped-stores.ts";
import { Stage } from "./contract/stage.ts";

const BAD = { isBad: true };

/** A store that fails while `isDown`, and counts its steps. */
function staged() {
  const clock = { nowMs: START_MS };
  const memory = memoryStore({ clock: () => clock.nowMs, registry: false });
  const state = { isDown: false, steps: 0 };
  const store = Object.assign(Object.create(memory) as typeof memory, {
    async run(...args: Parameters<typeof memory.run>) {
      state.steps++;
      if (state.isDown) throw new OrielError("UNAVAILABLE", "down", { transient: true, applied: "no" });
      return memory.run(...args);
    },
  });
  const stage = new Stage({ store, clock, clear: async () => {}, close: async () => {} });
  const breaker = (options: Partial<BreakerOptions> = {}) => stage.breaker(options);
  const call = async (of: ReturnType<typeof breaker>, isBad = false) => {
    const ended = await of
      .run(() => (isBad ? Promise.reject(new Error("bad")) : "good"))
      .catch((e) => e.code ?? e.message);
    await of.flush().catch(() => {});
    return ended;
  };
  return { state, stage, breaker, call };
}

test("ready() of a thousand callers costs one step, later ones none, and it never rejects", async () => {
  const { state, breaker } = staged();
  const one = breaker();
  await Promise.all(Array.from({ length: 1000 }, () => one.ready()));
  expect(state.steps).toBe(1);
  await one.ready();
  expect(state.steps).toBe(1);
  state.isDown = true;
  const other = breaker();
  expect(await other.ready()).toMatchObject({ state: "closed", degraded: true });
  expect(await other.ready()).toMatchObject({ degraded: true });
  expect(state.steps).toBe(2);
  state.isDown = false;
  await other.flush();
  expect(other.stats().degraded).toBe(false);
});

test("while the store fails decisions are degraded, and their errors name the circuit of this process alone", async () => {
  const { state, breaker, call } = staged();
  const one = breaker({ failures: 2 });
  await call(one);
  state.isDown = true;
  for (let i = 0; i < 3; i++) await call(one, true);
  expect(one.stats()).toMatchObject({ state: "open", degraded: true });
  await expect(one.run(() => 1)).rejects.toThrow(/the circuit of this process alone is open/);
  state.isDown = false;
  await one.flush();
  expect(one.stats()).toMatchObject({ state: "open", degraded: false });
});

test("the cooldown of an outage begins with the first one, whatever grew in an earlier outage", async () => {
  const { state, stage, breaker, call } = staged();
  const one = breaker({ failures: 1, cooldown: { first: "1s", jitter: 0 } });
  await call(one);
  for (let outage = 0; outage < 2; outage++) {
    state.isDown = true;
    await one.flush().catch(() => {});
    await call(one, true);
    for (const waitMs of [1000, 2000, 4000]) {
      expect(one.stats()).toMatchObject({ state: "open", retryAfterMs: waitMs, degraded: true });
      stage.pass(waitMs);
      await call(one, true);
    }
    stage.pass(8000);
    expect(await call(one)).toBe("good");
    state.isDown = false;
    await one.reset();
    // An open circuit that this process has only heard of, when the store fails again.
    await breaker({ failures: 1 }).open();
    await one.flush();
    state.isDown = true;
    await one.flush().catch(() => {});
    stage.pass(5000);
    await call(one, true);
    expect(one.stats()).toMatchObject({ state: "open", retryAfterMs: 1000, degraded: true });
    state.isDown = false;
    await one.reset();
  }
});

test("with a quorum a process that is open for itself stays so over an outage of the store", async () => {
  const { state, stage, breaker, call } = staged();
  const [sick, other] = [breaker({ failures: 2, quorum: 0.5 }), breaker({ failures: 2, quorum: 0.5 })];
  await call(other);
  for (let i = 0; i < 2; i++) await call(sick, true);
  state.isDown = true;
  expect(await call(sick)).toBe("OPEN");
  stage.pass(200);
  state.isDown = false;
  expect(await call(sick)).toBe("OPEN");
  expect(sick.stats()).toMatchObject({ state: "open", degraded: true, failing: 1 });
  expect(await call(other)).toBe("good");
});

test("a sick process with a quorum reports each flush at most, and its first failures at once", async () => {
  const { state, stage, breaker, call } = staged();
  const [sick, other] = [breaker({ failures: 5, quorum: 0.5 }), breaker({ failures: 5, quorum: 0.5 })];
  await call(other);
  await sick.flush();
  await stage.call(sick, BAD);
  const before = state.steps;
  for (let i = 0; i < 100; i++) {
    stage.pass(10);
    await sick.run(() => Promise.reject(new Error("bad"))).catch(() => {});
  }
  expect(state.steps - before).toBeLessThanOrEqual(12);
  expect(state.steps - before).toBeGreaterThanOrEqual(9);
});

test("without an order a process opens for itself within the ms of a reply", async () => {
  const store = memoryStore({ clock: () => 1000 });
  const make = () => new Breaker(store, { name: "b", span: "1m", failures: 3, quorum: 0.5, monotonic: () => 1000.5 });
  const [healthy, sick] = [make(), make()];
  await healthy.run(() => 1);
  await healthy.flush();
  for (let call = 0; call < 3; call++) {
    await sick.run(() => Promise.reject(new Error("bad"))).catch(() => {});
    await sick.flush();
  }
  expect(sick.stats()).toMatchObject({ state: "open", degraded: true });
  await store.close();
});
