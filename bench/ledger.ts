import type { Answer } from "./rivals/contract.ts";
import { percentile } from "./runner/measure.ts";

/** Relative differences allowed: sums may be f32 sums (V3), percentiles are rounded to f32 by some. */
const SUM_TOLERANCE = 1e-4;
const P99_TOLERANCE = 1e-6;

/** Tracks the events that a window must hold, and fails the bench when an answer disagrees. */
export class Ledger {
  readonly #owner: string;
  readonly #preload: Float32Array;
  readonly #added: number[] = [];
  #sent = 0;
  /** Folds every answer, so that none can be optimised away. */
  checksum = 0;

  constructor(owner: string, preload: Float32Array) {
    this.#owner = owner;
    this.#preload = preload;
  }

  /** Events that the window holds for certain. */
  get count(): number {
    return this.#preload.length + this.#added.length;
  }

  /** Call before an add. The answered count may include every add sent so far. */
  send(): void {
    this.#sent++;
  }

  /** Call with the answer of an add that happened. */
  receive(value: number, answer: Answer): void {
    this.#added.push(value);
    for (const part of [answer.count, answer.sum ?? 0, answer.p99 ?? 0])
      this.checksum = (Math.imul(this.checksum ^ (part * 8), 0x01000193) + 1) >>> 0;
    const maxCount = this.#preload.length + this.#sent;
    if (!(answer.count > this.#preload.length && answer.count <= maxCount))
      this.#fail("count", answer.count, `${this.#preload.length + 1} to ${maxCount}`);
  }

  /** The answer of an add that ran alone, after all others: nothing may be missing or counted twice. */
  verify(answer: Answer): void {
    if (answer.count !== this.count) this.#fail("count", answer.count, String(this.count));
    if (answer.sum === undefined || answer.p99 === undefined) return;
    const values = new Float64Array(this.count);
    values.set(this.#preload);
    values.set(this.#added, this.#preload.length);
    const sum = values.reduce((total, value) => total + value, 0);
    if (!near(answer.sum, sum, SUM_TOLERANCE)) this.#fail("sum", answer.sum, String(sum));
    const p99 = percentile(values, 99);
    if (!near(answer.p99, p99, P99_TOLERANCE)) this.#fail("p99", answer.p99, String(p99));
  }

  #fail(what: string, value: number, expected: string): never {
    throw new Error(`${this.#owner} answered ${what} ${value}; right is ${expected}`);
  }
}

function near(value: number, expected: number, tolerance: number): boolean {
  return Math.abs(value - expected) <= tolerance * Math.abs(expected);
}
