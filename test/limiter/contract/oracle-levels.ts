import type { Law, Terms } from "./oracle-law.ts";

const ceilOf = (a: bigint, b: bigint) => (a + b - 1n) / b;
const floorOf = (a: bigint, b: bigint) => (a < 0n ? -ceilOf(-a, b) : a / b);

/** A level in permits times span that falls by the rate each ms. */
export class Leaky implements Law {
  #level = 0n;
  #atMs = 0;
  #spanMs = 1;
  #overMs = 0;
  #nowMs = 0;
  #terms!: Terms;

  look(nowMs: number, terms: Terms): void {
    if (nowMs > this.#overMs) this.#level = 0n;
    this.#nowMs = nowMs;
    this.#terms = terms;
  }

  #at(): number {
    return this.#level > 0n ? Math.max(this.#nowMs, this.#atMs) : this.#nowMs;
  }

  /** At the limiter's time, and a number of ms later. */
  #levelAfter(ms = 0): bigint {
    const { spanMs, rate } = this.#terms;
    const scaled = ceilOf(this.#level * BigInt(spanMs), BigInt(this.#spanMs));
    const left = scaled - BigInt(this.#at() + ms - this.#atMs) * BigInt(rate);
    return this.#level > 0n && left > 0n ? left : 0n;
  }

  free(): number {
    const { limit, spanMs } = this.#terms;
    return Number(floorOf(BigInt(limit) * BigInt(spanMs) - this.#levelAfter(), BigInt(spanMs)));
  }

  waitMs(permits: number): number {
    const { limit, spanMs, rate } = this.#terms;
    if (permits > limit) return Number.POSITIVE_INFINITY;
    const room = BigInt(limit - permits) * BigInt(spanMs);
    const ms = Number(ceilOf(this.#levelAfter() - room, BigInt(rate)));
    if (this.#levelAfter(ms) > room || this.#levelAfter(ms - 1) <= room) throw new Error("the oracle's wait is wrong");
    return this.#at() + ms - this.#nowMs;
  }

  resetMs(): number {
    const level = this.#levelAfter();
    return level > 0n ? this.#at() + Number(ceilOf(level, BigInt(this.#terms.rate))) - this.#nowMs : 0;
  }

  take(permits: number): void {
    const level = this.#levelAfter() + BigInt(permits) * BigInt(this.#terms.spanMs);
    this.#keep(level < 2n ** 52n ? level : 2n ** 52n);
  }

  back(permits: number): void {
    const level = this.#levelAfter() - BigInt(permits) * BigInt(this.#terms.spanMs);
    this.#keep(level > 0n ? level : 0n);
  }

  #keep(level: bigint): void {
    this.#atMs = this.#at();
    this.#level = level;
    this.#spanMs = this.#terms.spanMs;
    this.#overMs = this.#atMs + Number(ceilOf(level, BigInt(this.#terms.rate)));
  }

  release(): void {}
}

/** A list of what is lent. */
export class Concurrency implements Law {
  #lent: { n: number; overMs: number; permits: number }[] = [];
  #count = 0;
  #nowMs = 0;
  #terms!: Terms;

  look(nowMs: number, terms: Terms): void {
    if (this.#lent.every(({ overMs }) => nowMs > overMs)) this.#lent = [];
    this.#nowMs = nowMs;
    this.#terms = terms;
  }

  #usedAt(ms: number): number {
    return this.#lent.reduce((used, { overMs, permits }) => used + (overMs > ms ? permits : 0), 0);
  }

  free(): number {
    return this.#terms.limit - this.#usedAt(this.#nowMs);
  }

  waitMs(permits: number): number {
    const ends = this.#lent.map(({ overMs }) => overMs).filter((overMs) => overMs > this.#nowMs);
    const fits = ends.filter((overMs) => this.#usedAt(overMs) + permits <= this.#terms.limit);
    return Math.min(...fits) - this.#nowMs;
  }

  resetMs(): number {
    return Math.max(0, ...this.#lent.map(({ overMs }) => overMs - this.#nowMs));
  }

  take(permits: number): void {
    this.#forget();
    this.#lent.push({ n: this.#count++, overMs: this.#nowMs + this.#terms.spanMs, permits });
  }

  release(n: number): void {
    if (!this.#lent.some((each) => each.n === n && each.overMs > this.#nowMs)) return;
    this.#forget();
    this.#lent = this.#lent.filter((each) => each.n !== n);
  }

  #forget(): void {
    this.#lent = this.#lent.filter(({ overMs }) => overMs > this.#nowMs);
  }

  back(): void {}
}
