import type { Refusal } from "./steps.ts";

/**
 * Chooses the numbers of permits that several servers are asked for. lua/semaphore/acquire.lua says why they have numbers. It
 * avoids those that too many servers have reported as in use, and chooses at random among the others.
 */
export class Numbers {
  readonly #limit: number;
  /** How many servers may refuse a number that the majority gives. */
  readonly #minority: number;
  #refusals: readonly Refusal[] = [];

  constructor(limit: number, servers: number) {
    this.#limit = limit;
    this.#minority = servers - (Math.floor(servers / 2) + 1);
  }

  /** Replaces what was known before, which is old. */
  learn(refusals: readonly Refusal[]): void {
    this.#refusals = refusals;
  }

  /** Undefined if too few are free, as far as is known. */
  choose(permits: number): number[] | undefined {
    const refusedBy = new Map<number, number>();
    for (const { busy } of this.#refusals)
      for (const number of busy) refusedBy.set(number, (refusedBy.get(number) ?? 0) + 1);
    const free = Array.from({ length: this.#limit }, (_, number) => number).filter(
      (number) => (refusedBy.get(number) ?? 0) <= this.#minority,
    );
    if (free.length < permits) return undefined;
    for (let i = 0; i < permits; i++) {
      const j = i + Math.floor(Math.random() * (free.length - i));
      [free[i], free[j]] = [free[j]!, free[i]!];
    }
    return free.slice(0, permits);
  }
}
