import { setTimeout as pause } from "node:timers/promises";
import { redisStore } from "../../src/index.ts";
import type { Store } from "../../src/store/contract.ts";
import type { StructureName } from "../matrix/structures.ts";
import { rowsOf } from "../matrix/table.ts";
import { Random } from "../simulator/random.ts";
import { clients } from "../store/clients.ts";
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
import { fleetActor, queueActor } from "./actors-work.ts";
import type { FaultyServer } from "./server-faults.ts";

const ACTORS = {
  series: seriesActor,
  lockedWindow: lockedWindowActor,
  counters: countersActor,
  limiter: limiterActor,
  lock: lockActor,
  breaker: breakerActor,
  queue: queueActor,
  fleet: fleetActor,
} satisfies Partial<Record<StructureName, (part: Part) => Actor>>;

/** A process whose monotonic clock stands still now and then, as an isolate's does between two requests. */
class Frozen {
  #sinceMs: number | undefined;
  #lostMs = 0;
  readonly monotonic = () => (this.#sinceMs ?? performance.now()) - this.#lostMs;

  async freeze(ms: number): Promise<void> {
    this.#sinceMs ??= performance.now();
    await pause(ms);
    if (this.#sinceMs !== undefined) this.#lostMs += performance.now() - this.#sinceMs;
    this.#sinceMs = undefined;
  }
}

export interface StormOutcome {
  told: string;
  violations: string[];
}

/**
 * One storm: every structure, each in two processes of a row of the matrix that is drawn for it, does what it can while the
 * server refuses, forgets and is silent; then calm, in which each must be what its books say.
 */
export async function playStorm(seed: number, server: FaultyServer): Promise<StormOutcome> {
  const random = new Random(seed);
  await server.empty();
  const ends: (() => unknown)[] = [];
  const frozen = new Frozen();
  const actors = Object.entries(ACTORS).map(([structure, actorOf]) => {
    const rows = rowsOf(structure as StructureName).filter(
      ({ store, modes }) => store in clients && modes.replicas !== 1,
    );
    const { store: client, scripting, modes } = random.pick(rows);
    // A lock goes by a clock that never stands still, or nothing could tell it that its lease is over.
    const clock = structure === "lock" || structure === "lockedWindow" ? {} : { monotonic: frozen.monotonic };
    const stores = [0, 1].map((): Store => {
      const { client: connection, end } = clients[client as keyof typeof clients](server.url);
      const store = redisStore(connection, { deadline: 400, scripting, ...clock });
      ends.push(async () => {
        await store.close();
        end();
      });
      return store;
    });
    return actorOf({ stores, random: random.fork(), modes });
  });

  let isOver = false;
  const playing = actors.map(async (actor) => {
    while (!isOver) {
      await actor.act();
      await pause(2);
    }
  });
  const told: string[] = [];
  await pause(30);
  for (let i = random.int(2, 4); i > 0; i--) {
    const name = random.pick([...Object.keys(server.faults), "frozen"]);
    told.push(name);
    const isFrozenToo = name === "frozen" || random.chance(0.3);
    const freezing = isFrozenToo ? frozen.freeze(random.int(100, 400)) : undefined;
    if (name !== "frozen") await server.faults[name]!(random);
    await freezing;
    await pause(random.int(10, 60));
  }
  isOver = true;
  await Promise.all(playing);
  const violations = await Promise.all(
    actors.map(async (actor, i) => {
      await Promise.resolve(actor.settle()).catch((error) => {
        (actor.violations as string[]).push(`${Object.keys(ACTORS)[i]}: the end fails with ${error?.stack ?? error}`);
      });
      return actor.violations;
    }),
  );
  for (const end of ends) await end();
  return { told: told.join(", "), violations: violations.flat() };
}
