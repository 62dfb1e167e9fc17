import { describe, expect, it } from "vitest";
import { OrielError } from "../../../src/base/errors.ts";
import type { Keyspace, Operation } from "../../../src/store/contract.ts";
import { CALM, Network, type Weather } from "./network.ts";
import { SimProcess } from "./process.ts";
import { Random } from "./random.ts";
import { SimServer } from "./server.ts";
import { SimStore } from "./store.ts";
import { World } from "./world.ts";

const START_MS = 1_700_000_000_000;

/** A counter as naive as can be: each arrival of a request counts. */
function counter(repeatable: boolean): Operation<number, number> {
  return {
    name: "toy/count",
    script: { text: "" },
    arity: 1,
    keyCount: 1,
    repeatable,
    encode: (by) => [by],
    decode: (reply) => Number(new TextDecoder().decode(reply)),
    local(keys: Keyspace, key: string, by: number, nowMs: number) {
      const bytes = (keys.get(key) as Uint8Array | undefined) ?? new Uint8Array(1);
      if (by === 0) throw new OrielError("ARGUMENT", "nothing to count");
      bytes[0]! += by;
      keys.set(key, bytes, 1, nowMs + 60_000);
      return bytes[0]!;
    },
  };
}

function build(seed: number, weather: Partial<Weather> = {}) {
  const world = new World(START_MS, true);
  const server = new SimServer(world);
  const random = new Random(seed);
  const network = new Network(world, { ...CALM, ...weather }, random.fork());
  const process = new SimProcess(world, "p", random);
  const store = new SimStore({ world, server, network, process });
  const stored = () => (server.version("k")?.value as Uint8Array | undefined)?.[0];
  return { world, server, network, process, store, stored };
}

describe("the simulated world", () => {
  it("runs a step and answers, in virtual time", async () => {
    const { world, store, stored } = build(1);
    const answer = store.run(counter(true), "k", 2);
    await world.run(START_MS + 100);
    expect(await answer).toBe(2);
    expect(stored()).toBe(2);
    expect(world.nowMs).toBe(START_MS + 100);
  });

  it("doubles requests: a naive counter counts twice", async () => {
    const { world, store, stored } = build(2, { repeated: 1, repeatedLateMs: 4000 });
    const answer = store.run(counter(true), "k", 1);
    await world.run(START_MS + 5000);
    expect(await answer).toBe(1);
    expect(stored()).toBe(2);
  });

  it("loses requests: nothing is stored, and the call rejects in time as unknown", async () => {
    const { world, store, stored } = build(3, { lostRequest: 1 });
    const answer = store
      .run(counter(true), "k", 1)
      .catch((error) => [error.code, error.applied, world.nowMs - START_MS]);
    await world.run(START_MS + 5000);
    const [code, applied, elapsedMs] = (await answer) as [string, string, number];
    expect([code, applied]).toEqual(["DEADLINE", "unknown"]);
    // Each of the three attempts ends at the first whole ms at which its timer is due.
    expect(elapsedMs).toBeGreaterThanOrEqual(3000);
    expect(elapsedMs).toBeLessThanOrEqual(3003);
    expect(stored()).toBe(undefined);
  });

  it("loses replies: a repeatable call is sent three times, another once", async () => {
    for (const [repeatable, count] of [
      [true, 3],
      [false, 1],
    ] as const) {
      const { world, store, stored } = build(4, { lostReply: 1 });
      store.run(counter(repeatable), "k", 1).catch(() => {});
      await world.run(START_MS + 5000);
      expect(stored()).toBe(count);
    }
  });

  it("refuses connections: the call rejects as not applied", async () => {
    const { world, network, store } = build(5);
    network.refusingUntilMs = START_MS + 60_000;
    const answer = store.run(counter(true), "k", 1).catch((error) => [error.code, error.applied]);
    await world.run(START_MS + 5000);
    expect(await answer).toEqual(["UNAVAILABLE", "no"]);
  });

  it("goes silent: steps sent during that time run afterwards", async () => {
    const { world, network, store, stored } = build(6);
    network.silentUntilMs = START_MS + 2500;
    const answer = store.run(counter(true), "k", 1);
    await world.run(START_MS + 2400);
    expect(stored()).toBe(undefined);
    await world.run(START_MS + 9000);
    expect(await answer).toBe(3);
  });

  it("fails over: the last steps are lost, changed values too, and later steps continue from there", async () => {
    const { world, server, store, stored } = build(7);
    for (let i = 0; i < 5; i++) server.execute(counter(true), "k", 1);
    expect(server.failover(2)).toBe(2);
    expect(stored()).toBe(3);
    const answer = store.run(counter(true), "k", 1);
    await world.run(START_MS + 100);
    expect(await answer).toBe(4);
    expect(server.failover(99)).toBe(4);
    expect(stored()).toBe(undefined);
  });

  it("lets keys expire by the server's clock", async () => {
    const { world, server, stored } = build(8);
    server.execute(counter(true), "k", 1);
    await world.run(START_MS + 60_000);
    expect(stored()).toBe(1);
    server.offsetMs = 1;
    expect(stored()).toBe(undefined);
    server.sweep();
    server.offsetMs = 0;
    expect(stored()).toBe(undefined);
  });

  it("passes on the refusal of a step", async () => {
    const { world, store, stored } = build(9);
    const answer = store.run(counter(true), "k", 0).catch((error) => error.code);
    await world.run(START_MS + 100);
    expect(await answer).toBe("ARGUMENT");
    expect(stored()).toBe(undefined);
  });

  it("pauses and kills processes", async () => {
    const { world, process, store, stored } = build(10);
    let answered = 0;
    const call = () => store.run(counter(true), "k", 1).then(() => answered++);
    call();
    process.pause();
    await world.run(START_MS + 10_000);
    expect([stored(), answered]).toEqual([1, 0]);
    process.resume();
    await world.run(START_MS + 10_010);
    expect(answered).toBe(1);
    call();
    process.kill();
    await world.run(START_MS + 20_000);
    expect([stored(), answered]).toEqual([2, 1]);
  });

  it("is equal for equal seeds, and differs for others", async () => {
    const storm = { lostRequest: 0.2, lostReply: 0.2, repeated: 0.3, repeatedLateMs: 5000, slow: 0.4, slowMs: 8000 };
    const play = async (seed: number) => {
      const { world, store, stored } = build(seed, storm);
      for (let i = 0; i < 40; i++) {
        store.run(counter(true), "k", 1).catch(() => {});
        await world.run(world.nowMs + 137);
      }
      await world.run(world.nowMs + 30_000);
      return [stored(), ...world.trace].join("\n");
    };
    expect(await play(11)).toBe(await play(11));
    expect(await play(11)).not.toBe(await play(12));
  });
});
