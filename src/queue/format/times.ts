import { SEQ_DIGITS } from "../../generated/layouts/queue.ts";
import { SLOT_BYTES, textBytes } from "../../store/memory/heap-bytes.ts";
import { scoreOf, scoreUntil } from "./layout.ts";

const MAX_IN_RUN = 512;
/** Minimum entries of a run. A run keeps its allocated memory, so a shorter one is merged with its neighbour. */
const MIN_IN_RUN = 128;

/** Memory of an entry: its score and its places in the map and in a run. */
const ENTRY_BYTES = SLOT_BYTES + 80;

interface Entry {
  score: number;
  member: string;
}

/** Memory of the member of an id. */
export function bytesInTimes(id: string): number {
  return ENTRY_BYTES + textBytes(id) + SEQ_DIGITS;
}

/**
 * The sorted set `times` in a memory store: ordered by score, then by member. Entries are in consecutive runs of up to
 * 512, so an insertion moves few entries.
 */
export class Times {
  readonly #entries = new Map<string, Entry>();
  readonly #runs: Entry[][] = [[]];
  sizeBytes = 0;

  scoreOf(member: string): number | undefined {
    return this.#entries.get(member)?.score;
  }

  set(member: string, score: number): void {
    this.delete(member);
    const entry = { score, member };
    this.#entries.set(member, entry);
    this.sizeBytes += ENTRY_BYTES + textBytes(member);
    const at = this.#runOf(entry);
    const run = this.#runs[at]!;
    run.splice(indexIn(run, entry), 0, entry);
    if (run.length > MAX_IN_RUN) this.#runs.splice(at + 1, 0, run.splice(MAX_IN_RUN / 2));
  }

  delete(member: string): boolean {
    const entry = this.#entries.get(member);
    if (!entry) return false;
    const at = this.#runOf(entry);
    const run = this.#runs[at]!;
    run.splice(indexIn(run, entry), 1);
    if (run.length < MIN_IN_RUN && this.#runs.length > 1) this.#join(at);
    this.sizeBytes -= ENTRY_BYTES + textBytes(member);
    return this.#entries.delete(member);
  }

  /** Members and scores of a band, up to a time. */
  first(band: number, untilMs: number, limit: number): [member: string, score: number][] {
    const found: [string, number][] = [];
    const last = scoreUntil(band, untilMs);
    const from = { score: scoreOf(band, 0, 0), member: "" };
    let index = indexIn(this.#runs[this.#runOf(from)]!, from);
    for (let at = this.#runOf(from); at < this.#runs.length; at++, index = 0)
      for (const run = this.#runs[at]!; index < run.length; index++) {
        const { member, score } = run[index]!;
        if (score > last || found.length === limit) return found;
        found.push([member, score]);
      }
    return found;
  }

  /** The highest score of all; undefined without entries. */
  highest(): number | undefined {
    return this.#runs.at(-1)!.at(-1)?.score;
  }

  /** Counts the entries of a band between two times. */
  count(band: number, fromMs: number, untilMs: number): number {
    const from = this.#rankOf({ score: scoreOf(band, fromMs, 0), member: "" });
    return this.#rankOf({ score: scoreUntil(band, untilMs), member: "\uffff" }) - from;
  }

  /** Merges a run with its neighbour. If the result would be too long, splits it into two runs. */
  #join(at: number): void {
    const first = Math.min(at, this.#runs.length - 2);
    const joined = [...this.#runs[first]!, ...this.#runs[first + 1]!];
    if (joined.length <= MAX_IN_RUN) this.#runs.splice(first, 2, joined);
    else this.#runs.splice(first, 2, joined.slice(0, MAX_IN_RUN / 2), joined.slice(MAX_IN_RUN / 2));
  }

  #rankOf(entry: Entry): number {
    const own = this.#runOf(entry);
    let rank = indexIn(this.#runs[own]!, entry);
    for (let at = 0; at < own; at++) rank += this.#runs[at]!.length;
    return rank;
  }

  /** The first run that ends at or after this entry; otherwise the last run. */
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

/** The entry's index in a run, or its insertion index. */
function indexIn(run: readonly Entry[], entry: Entry): number {
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
