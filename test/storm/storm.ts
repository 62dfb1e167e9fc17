import { setTimeout as pause } from "node:timers/promises";
import type { WatchedStore } from "../../src/store/contract.ts";
import type { StructureName } from "../matrix/structures.ts";
import { rowsOf } from "../matrix/table.ts";
import { Random } from "../simulator/world/random.ts";
import { storeOn } from "../store/contract/clients.ts";
import {
  type Actor,
  breakerActor,
  countersActor,
  limiterActor,
  lockActor,
  lockedWindowActor,
  type Part,
  seriesActor,
} from "./actors.ts";
import { drainActor, fleetActor, queueActor } from "./actors-work.ts";
import { Frozen, ServerClock } from "./clocks.ts";
import { databases } from "./databases.ts";
import type { FaultyServers } from "./server-faults.ts";

const ACTORS = {
  series: seriesActor,
  lockedWindow: lockedWindowActor,
  counters: countersActor,
  limiter: limiterActor,
  lock: lockActor,
  breaker: breakerActor,
  queue: queueActor,
  fleet: fleetActor,
  drain: drainActor,
} satisfies Partial<Record<StructureName, (part: Part) => Actor | Promise<Actor>>>;

export interface StormOutcome {
  reported: string;
  violations: string[];
}

/** Changes a store, to prove that the books reveal it. No other fault is active then. */
export type Change = (store: WatchedStore) => WatchedStore;

/**
 * One storm. Every structure works in two processes of a random row of the matrix, while the servers refuse, forget and are
 * silent, and their clock is set. Then calm returns, and each structure must agree with its books.
 */
export async function playStorm(seed: number, servers: FaultyServers, change?: Change): Promise<StormOutcome> {
  const random = new Random(seed);
  await servers.empty();
  const ends: (() => unknown)[] = [];
  const frozen = new Frozen();
  const clock = new ServerClock(random.chance(0.5));
  const actors: Actor[] = [];
  for (const [structure, actorOf] of Object.entries(ACTORS)) {
    const name = structure as StructureName;
    const rows = rowsOf(name).filter(
      ({ store, modes }) =>
        servers.has(store) && (modes.replicas !== 1 || servers.hasReplica) && databases.has(modes.sink),
    );
    const { store: client, scripting, modes } = random.pick(rows);
    // A lock needs a clock that never stands still. Otherwise it could not notice the end of its lease.
    const monotonic = /lock/i.test(structure) ? {} : { monotonic: frozen.monotonic };
    const stores: WatchedStore[] = [];
    for (let i = 0; i < 2; i++) {
      const connection = await servers.connect(client);
      const options = { deadline: 400, ...(client !== "HTTP" && { scripting }), ...monotonic, ...clock.options };
      const store = storeOn(connection, options) as WatchedStore;
      stores.push(change ? change(store) : store);
      ends.push(async () => {
        await store.close();
        await connection.end();
      });
    }
    actors.push(await actorOf({ stores, random: random.fork(), modes, clock }));
  }

  let isOver = false;
  const minActs = change ? 40 : 0;
  const playing = actors.map(async (actor) => {
    for (let acts = 0; !isOver || acts < minActs; acts++) {
      await actor.act();
      await pause(2);
    }
  });
  const reported: string[] = [];
  await pause(30);
  const names = [...Object.keys(servers.faults), "frozen", ...(clock.canStep ? ["clock", "clock", "clock"] : [])];
  for (let i = change ? 0 : random.int(2, 4); i > 0; i--) {
    const name = random.pick(names);
    reported.push(name);
    if (clock.canStep && random.chance(0.3)) clock.step(random);
    const isFrozenToo = name === "frozen" || random.chance(0.3);
    const freezing = isFrozenToo ? frozen.freeze(random.int(100, 400)) : undefined;
    if (name === "clock") clock.step(random);
    else if (name !== "frozen") await servers.faults[name]!(random);
    await freezing;
    await pause(random.int(10, 60));
  }
  isOver = true;
  await Promise.all(playing);
  clock.settle();
  const violations = await Promise.all(
    actors.map(async (actor, i) => {
      await Promise.resolve(actor.settle()).catch((error) => {
        (actor.violations as string[]).push(`${Object.keys(ACTORS)[i]}: the end fails with ${error?.stack ?? error}`);
      });
      return actor.violations;
    }),
  );
  for (const end of ends) await end();
  return {
    reported: `${reported.join(", ")}${clock.isStepped ? "; clock stepped" : ""}`,
    violations: violations.flat(),
  };
}
