import type { Network } from "../world/network.ts";
import type { Random } from "../world/random.ts";
import type { World } from "../world/world.ts";
import type { Away } from "./books.ts";

/** Processes on different sides of the network reach the primaries by wires of their own. Odd sides are far. */
export type Side = number;

interface Cut {
  readonly side: Side;
  readonly primary: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/** Which primaries cannot be reached, from where, and when. */
export class Cuts {
  readonly #world: World;
  /** By side, then by primary. */
  readonly #networks: readonly (readonly Network[])[];
  readonly #all: Cut[] = [];

  constructor(world: World, networks: readonly (readonly Network[])[]) {
    this.#world = world;
    this.#networks = networks;
  }

  get sides(): readonly Side[] {
    return this.#networks.map((_, side) => side);
  }

  /** From now on, `primary` is away for these sides: it refuses connections, or stands still and answers late what has come. */
  cut(sides: readonly Side[], primary: number, lastsMs: number, isSilent: boolean): void {
    const { nowMs } = this.#world;
    for (const side of sides) {
      const network = this.#networks[side]![primary]!;
      const toMs = nowMs + lastsMs;
      if (isSilent) network.silentUntilMs = Math.max(network.silentUntilMs, toMs);
      else network.refusingUntilMs = Math.max(network.refusingUntilMs, toMs);
      this.#all.push({ side, primary, fromMs: nowMs, toMs });
    }
  }

  /** Primaries that were away for all of the time, and for some of it. */
  between(side: Side, fromMs: number, toMs: number): { always: Set<number>; ever: Set<number> } {
    const touching = this.#all.filter((cut) => cut.side === side && cut.fromMs <= toMs && cut.toMs >= fromMs);
    const whole = touching.filter((cut) => cut.fromMs <= fromMs && cut.toMs > toMs);
    const of = (cuts: readonly Cut[]) => new Set(cuts.map(({ primary }) => primary));
    return { always: of(whole), ever: of(touching) };
  }
}

/** The keys of shards on primaries that are away. */
export function keysAway(
  keys: readonly string[],
  primaryOf: (key: string) => number,
  { always, ever }: { always: ReadonlySet<number>; ever: ReadonlySet<number> },
): Away {
  const on = (primaries: ReadonlySet<number>) => new Set(keys.filter((key) => primaries.has(primaryOf(key))));
  return { always: on(always), ever: on(ever) };
}

/** Primaries that go away one by one, and a part of the network that loses some of them together. */
export function planCuts(world: World, cuts: Cuts, random: Random, primaries: number, durationMs: number): void {
  const sometime = () => random.int(Math.round(0.1 * durationMs), Math.round(0.85 * durationMs));
  for (let i = 0; i < Math.ceil(primaries / 10); i++) {
    const [primary, lastsMs, isSilent] = [random.int(0, primaries - 1), random.int(3000, 8000), random.chance(0.5)];
    world.after(sometime(), () => cuts.cut(cuts.sides, primary, lastsMs, isSilent));
  }
  world.after(Math.round(0.7 * durationMs), () => {
    const first = random.int(0, primaries - 1);
    const far = cuts.sides.filter((side) => side % 2 === 1);
    for (let i = 0; i < Math.ceil(primaries / 8); i++) cuts.cut(far, (first + i) % primaries, 6000, false);
  });
}
