import type { Law, Terms } from "./oracle-law.ts";

interface Taken {
  atMs: number;
  permits: number;
}

const sum = (all: readonly Taken[]) => all.reduce((total, { permits }) => total + permits, 0);

/** A log of the permits of the window that begins at `#startMs`. */
export class Fixed implements Law {
  readonly #isAligned: boolean;
  #log: Taken[] = [];
  #startMs = 0;
  #overMs = 0;
  #firstMs = 0;
  #nowMs = 0;
  #terms!: Terms;

  constructor(isAligned: boolean) {
    this.#isAligned = isAligned;
  }

  look(nowMs: number, terms: Terms): void {
    if (nowMs > this.#overMs) this.#log = [];
    const { spanMs } = terms;
    const isOpen = this.#log.length > 0;
    const atMs = isOpen ? Math.max(nowMs, this.#startMs) : nowMs;
    if (this.#isAligned) this.#firstMs = Math.floor(atMs / spanMs) * spanMs;
    else this.#firstMs = isOpen && atMs < this.#startMs + spanMs ? this.#startMs : nowMs;
    this.#nowMs = nowMs;
    this.#terms = terms;
  }

  #counted(): Taken[] {
    return this.#startMs >= this.#firstMs ? this.#log : [];
  }

  free(): number {
    return this.#terms.limit - sum(this.#counted());
  }

  waitMs(permits: number): number {
    return permits > this.#terms.limit ? Number.POSITIVE_INFINITY : this.#firstMs + this.#terms.spanMs - this.#nowMs;
  }

  resetMs(): number {
    return sum(this.#counted()) > 0 ? this.#firstMs + this.#terms.spanMs - this.#nowMs : 0;
  }

  take(permits: number): void {
    this.#keep([...this.#counted(), { atMs: this.#nowMs, permits }]);
  }

  back(permits: number): void {
    this.#keep(withoutNewest(this.#counted(), permits));
  }

  #keep(log: Taken[]): void {
    if (this.#counted().length === 0) this.#startMs = this.#firstMs;
    this.#log = log;
    this.#overMs = this.#firstMs + this.#terms.spanMs;
  }

  release(): void {}
}

function withoutNewest(log: readonly Taken[], permits: number): Taken[] {
  const left = log.map((each) => ({ ...each }));
  for (let wanted = permits; wanted > 0 && left.length > 0; ) {
    const newest = left[left.length - 1]!;
    const given = Math.min(wanted, newest.permits);
    newest.permits -= given;
    wanted -= given;
    if (newest.permits === 0) left.pop();
  }
  return left;
}

/** A log of every permit. The limiter's time never goes before that of the newest; it forgets when it takes. */
export class Sliding implements Law {
  #log: Taken[] = [];
  #newestMs = 0;
  #longestMs = 0;
  #nowMs = 0;
  #atMs = 0;
  #terms!: Terms;

  look(nowMs: number, terms: Terms): void {
    if (nowMs > this.#newestMs + this.#longestMs) this.#forget();
    this.#nowMs = nowMs;
    this.#atMs = Math.max(nowMs, this.#newestMs);
    this.#terms = terms;
  }

  #forget(): void {
    this.#log = [];
    this.#newestMs = 0;
    this.#longestMs = 0;
  }

  #inside(): Taken[] {
    return this.#log.filter(({ atMs }) => atMs > this.#atMs - this.#terms.spanMs);
  }

  free(): number {
    return this.#terms.limit - sum(this.#inside());
  }

  waitMs(permits: number): number {
    const { limit, spanMs } = this.#terms;
    const inside = this.#inside();
    for (const { atMs } of permits > limit ? [] : inside) {
      const left = inside.filter((each) => each.atMs > atMs);
      if (sum(left) + permits <= limit) return atMs + spanMs - this.#nowMs;
    }
    return Number.POSITIVE_INFINITY;
  }

  resetMs(): number {
    const newest = this.#inside().at(-1);
    return newest ? newest.atMs + this.#terms.spanMs - this.#nowMs : 0;
  }

  take(permits: number): void {
    const atMs = this.#atMs;
    this.#longestMs = Math.max(this.#longestMs, this.#terms.spanMs);
    this.#log = [...this.#log.filter((each) => each.atMs > atMs - this.#longestMs), { atMs, permits }];
    this.#newestMs = atMs;
  }

  back(permits: number): void {
    const inside = this.#inside();
    if (permits === 0 || inside.length === 0) return;
    const atMs = this.#atMs;
    const outside = this.#log.slice(0, this.#log.length - inside.length);
    this.#log = [...outside, ...withoutNewest(inside, permits)];
    this.#newestMs = this.#log.at(-1)?.atMs ?? atMs;
    this.#longestMs = Math.max(this.#longestMs, this.#terms.spanMs);
    if (this.#nowMs >= this.#newestMs + this.#longestMs) this.#forget();
  }

  release(): void {}
}
