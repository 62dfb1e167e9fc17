import { uniform } from "./events.ts";

export type Distribution = "lognormal" | "uniform" | "ties" | "drift";

/** Values of successive events. All distributions except "ties" are continuous. The same seed gives the same values. */
export function draw(distribution: Distribution, count: number, seed: number): Float32Array {
  const random = uniform(seed);
  const next = SHAPES[distribution];
  const values = new Float32Array(count);
  for (let i = 0; i < count; i++) values[i] = next(random, i / count);
  return values;
}

/** `share`: the share of the events that came before. */
const SHAPES: Record<Distribution, (random: () => number, share: number) => number> = {
  lognormal: (random) => Math.exp(3 + 0.8 * normal(random)),
  uniform: (random) => 1000 * random(),
  // Only nine different values.
  ties: (random) => Math.round(8 * random()),
  // From 100 to 200 over the stretch, so that old and new events hardly overlap.
  drift: (random, share) => 100 + 100 * share + 5 * normal(random),
};

function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** A permutation of 0 to count - 1 (Fisher and Yates), for times in no order. */
export function shuffled(count: number, seed: number): Uint32Array {
  const random = uniform(seed);
  const order = Uint32Array.from({ length: count }, (_, i) => i);
  for (let i = count - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    const held = order[i] as number;
    order[i] = order[j] as number;
    order[j] = held;
  }
  return order;
}
