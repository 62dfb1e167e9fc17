import { scoreOf, scoreUntil } from "./layout.ts";

const MOST_IN_RUN = 512;

interface Entry {
  score: number;
  member: string;
}

/**
 * The sorted set `times` as a memory store keeps it: by score, then by member. Runs of up to 512 entries, each behind the
 * one before, so that what moves is short wherever it goes in.
 */
export class Times {
  readonly #entries = new Map<string, Entry>();
  readonly #runs: Entry[][] = [[]];

  scoreOf(member: string): number | undefined {
    return this.#entries.get(member)?.score;
  }

  set(member: string, score: number): void {
    this.delete(member);
    const entry = { score, member };
    this.#entries.set(member, entry);
    const at = this.#runOf(entry);
    const run = this.#runs[at]!;
    run.splice(placeIn(run, entry), 0, entry);
    if (run.length > MOST_IN_RUN) this.#runs.splice(at + 1, 0, run.splice(MOST_IN_RUN / 2));
  }

  delete(member: string): boolean {
    const entry = this.#entries.get(member);
    if (!entry) return false;
    const at = this.#runOf(entry);
    const run = this.#runs[at]!;
    run.splice(placeIn(run, entry), 1);
    if (run.length === 0 && this.#runs.length > 1) this.#runs.splice(at, 1);
    return this.#entries.delete(member);
  }

  /** Members and scores of a band, up to a time. */
  first(band: number, untilMs: number, most: number): [member: string, score: number][] {
    const found: [string, number][] = [];
    const last = scoreUntil(band, untilMs);
    const from = { score: scoreOf(band, 0, 0), member: "" };
    let place = placeIn(this.#runs[this.#runOf(from)]!, from);
    for (let at = this.#runOf(from); at < this.#runs.length; at++, place = 0)
      for (const run = this.#runs[at]!; place < run.length; place++) {
        const { member, score } = run[place]!;
        if (score > last || found.length === most) return found;
        found.push([member, score]);
      }
    return found;
  }

  /** How many of a band stand from one time up to another. */
  count(band: number, fromMs: number, untilMs: number): number {
    const from = this.#rankOf({ score: scoreOf(band, fromMs, 0), member: "" });
    return this.#rankOf({ score: scoreUntil(band, untilMs), member: "\uffff" }) - from;
  }

  #rankOf(entry: Entry): number {
    const own = this.#runOf(entry);
    let rank = placeIn(this.#runs[own]!, entry);
    for (let at = 0; at < own; at++) rank += this.#runs[at]!.length;
    return rank;
  }

  /** The first run that ends with it, or behind it; else the last one. */
  #runOf(entry: Entry): number {
    let low = 0;
    let high = this.#runs.length - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isBefore(this.#runs[middle]!.at(-1)!, entry)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Where it stands in a run, or would. */
function placeIn(run: readonly Entry[], entry: Entry): number {
  let low = 0;
  let high = run.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(run[middle]!, entry)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function isBefore(one: Entry, other: Entry): boolean {
  return one.score < other.score || (one.score === other.score && one.member < other.member);
}
