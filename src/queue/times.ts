import { scoreOf, scoreUntil } from "./layout.ts";

/** The sorted set `times` as a memory store keeps it: by score, then by member. */
export class Times {
  readonly #scores = new Map<string, number>();
  readonly #sorted: string[] = [];

  get size(): number {
    return this.#sorted.length;
  }

  scoreOf(member: string): number | undefined {
    return this.#scores.get(member);
  }

  set(member: string, score: number): void {
    this.delete(member);
    this.#scores.set(member, score);
    this.#sorted.splice(this.#placeOf(score, member), 0, member);
  }

  delete(member: string): boolean {
    const score = this.#scores.get(member);
    if (score === undefined) return false;
    this.#sorted.splice(this.#placeOf(score, member), 1);
    return this.#scores.delete(member);
  }

  /** Members and scores of a band, up to a time. */
  first(band: number, untilMs: number, most: number): [member: string, score: number][] {
    const found: [string, number][] = [];
    const last = scoreUntil(band, untilMs);
    for (let at = this.#placeOf(scoreOf(band, 0, 0), ""); at < this.#sorted.length && found.length < most; at++) {
      const member = this.#sorted[at]!;
      const score = this.#scores.get(member)!;
      if (score > last) break;
      found.push([member, score]);
    }
    return found;
  }

  /** How many of a band stand from one time up to another. */
  count(band: number, fromMs: number, untilMs: number): number {
    const from = this.#placeOf(scoreOf(band, fromMs, 0), "");
    return this.#placeOf(scoreUntil(band, untilMs), "\uffff") - from;
  }

  /** Where it stands, or would: behind all with a lower score, or the same and a lower member. */
  #placeOf(score: number, member: string): number {
    let low = 0;
    let high = this.#sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const there = this.#sorted[middle]!;
      const its = this.#scores.get(there)!;
      if (its < score || (its === score && there < member)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
