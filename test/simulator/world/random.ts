/** A seeded source of randomness (mulberry32): the same seed gives the same schedule, on every machine. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = (seed ^ 0x9e3779b9) >>> 0;
    for (let i = 0; i < 4; i++) this.u32();
  }

  u32(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }

  /** A whole number, both bounds allowed. */
  int(least: number, most: number): number {
    return least + Math.floor((this.u32() / 0x1_0000_0000) * (most - least + 1));
  }

  chance(probability: number): boolean {
    return this.u32() < probability * 0x1_0000_0000;
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.int(0, choices.length - 1)]!;
  }

  /** Another source whose draws do not disturb this one's. */
  fork(): Random {
    return new Random(this.u32());
  }
}
