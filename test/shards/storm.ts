import { vi } from "vitest";
import { OrielError } from "../../src/entries/index.ts";
import type { Store } from "../../src/store/contract.ts";
import { spreadKeys } from "../../src/store/keys.ts";
import { seeds } from "../harness/seeds.ts";
import type { OpenStore } from "../series/contract/stores.ts";

export const numbersOf = (seed: number) => {
  let state = (seed * 7919) >>> 0 || 1;
  const next = () => {
    state = (state ^ (state << 13)) >>> 0;
    state = (state ^ (state >>> 17)) >>> 0;
    state = (state ^ (state << 5)) >>> 0;
    return state / 2 ** 32;
  };
  return { isOnceIn: (count: number) => next() < 1 / count, below: (count: number) => Math.floor(next() * count) };
};
export type Random = ReturnType<typeof numbersOf>;

export const turns = async (count: number) => {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
};
export const mine = new Error("the caller's own");

/** A store that delays, reorders, doubles and loses requests and replies, and has no answer for keys that are cut off. */
export function stormy(base: Store, random: Random, world: World): Store {
  const failure = (text: string, applied: "no" | "unknown") =>
    new OrielError("UNAVAILABLE", text, { transient: true, applied });
  return {
    ...base,
    monotonic: base.monotonic,
    leaseClock: base.leaseClock,
    report: ({ count }) => {
      world.reported += count;
    },
    async run(operation, key, input, options) {
      await turns(random.below(6));
      if (world.cut.some((each) => key === each || key.startsWith(`${each}:`))) throw failure("cut off", "no");
      if (world.isLossy && random.isOnceIn(30)) throw failure("the request is lost", "no");
      if (operation.repeatable && random.isOnceIn(10))
        void turns(random.below(10))
          .then(() => base.run(operation, key, input))
          .catch(() => {});
      const answer = await base.run(operation, key, input, options);
      await turns(random.below(6));
      if (world.isLossy && random.isOnceIn(30)) throw failure("the reply is lost", "unknown");
      return answer;
    },
  };
}

export interface World {
  cut: string[];
  isLossy: boolean;
  /** Number of events that the structures said to have lost. */
  reported: number;
}

/** Steps of some milliseconds, in which processes act and a shard of 2, 4 or 8 may be away. In the end all is well, and all have acted. */
export async function playSteps(
  seed: number,
  random: Random,
  world: World,
  { store, clock }: OpenStore,
  name: string,
  begin: (step: number) => () => Promise<void>,
): Promise<void> {
  const keys = [2, 4, 8].flatMap((shards) => spreadKeys(store, name, "shard", shards));
  const work: Promise<void>[] = [];
  for (let step = 0; step < 25; step++) {
    clock.nowMs += random.below(20);
    const act = begin(step);
    if (seed % 2 === 1 && random.isOnceIn(5)) world.cut = random.isOnceIn(2) ? [] : [keys[random.below(keys.length)]!];
    for (let i = 0; i < 6; i++) {
      work.push(act());
      await turns(random.below(3));
    }
    if (!random.isOnceIn(5)) await Promise.all(work.splice(0));
  }
  world.cut = [];
  world.isLossy = false;
  await Promise.all(work);
}

/** Plays `usual` seeds on one store, whose clock the process has too. An error names its seed. */
export async function eachSeed(
  usual: number,
  open: () => Promise<OpenStore>,
  play: (seed: number, opened: OpenStore) => Promise<void>,
): Promise<void> {
  const { first, count } = seeds(usual);
  const opened = await open();
  vi.spyOn(Date, "now").mockImplementation(() => opened.clock.nowMs);
  try {
    for (let seed = first; seed < first + count; seed++)
      await play(seed, opened).catch((error) => {
        throw new Error(`ORIEL_SEED=${seed}`, { cause: error });
      });
  } finally {
    await opened.close();
  }
}
