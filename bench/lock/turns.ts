import { median } from "../runner/measure.ts";

/** One side of a comparison. `turnUs` runs one turn and returns the time of one run in µs. */
export interface Contender {
  name: string;
  turnUs(): number | Promise<number>;
}

/** The speed of a machine drifts, so the contenders take turns (A B A B) and are compared within each turn. */
export async function takeTurns(contenders: readonly Contender[], turns: number): Promise<Turns> {
  const timesUs = new Map(contenders.map(({ name }) => [name, [] as number[]]));
  for (let turn = 0; turn < turns; turn++)
    for (const contender of contenders) timesUs.get(contender.name)?.push(await contender.turnUs());
  return new Turns(timesUs);
}

export class Turns {
  readonly #timesUs: ReadonlyMap<string, number[]>;

  constructor(timesUs: ReadonlyMap<string, number[]>) {
    this.#timesUs = timesUs;
  }

  /** Median over the turns. NaN for a contender without turns. */
  medianUs(name: string): number {
    return median(this.#timesUs.get(name) ?? []);
  }

  /** How many times faster `name` is than `other`: median over the turns of the two times' ratio. */
  timesFaster(name: string, other: string): number {
    const others = this.#timesUs.get(other) ?? [];
    return median(others.map((us, turn) => us / (this.#timesUs.get(name)?.[turn] ?? Number.NaN)));
  }
}

/** Median time of one run, in µs, of `repetitions`. */
export function medianRunUs(repetitions: number, run: () => unknown): number {
  const timesUs = new Float64Array(repetitions);
  for (let i = 0; i < repetitions; i++) {
    const startMs = performance.now();
    run();
    timesUs[i] = (performance.now() - startMs) * 1000;
  }
  return median(timesUs);
}
