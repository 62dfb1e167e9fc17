import { OrielError } from "../../src/entries/index.ts";
import type { Store } from "../../src/store/contract.ts";

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
