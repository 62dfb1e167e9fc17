import { type StatsOptions, type StatsQuery, statsQuery } from "../stats/window-query.ts";

type Kept = Readonly<Record<string, unknown>>;

/** Checked questions of one series: whoever asks the same again, as callers do, is not checked again. */
export class Queries {
  readonly #retentionMs: number;
  readonly #end: "at" | "now";
  #options: Kept = {};
  #names = -1;
  #query: StatsQuery | undefined;

  /** `end` as of `statsQuery`. */
  constructor(retentionMs: number, end: "at" | "now") {
    this.#retentionMs = retentionMs;
    this.#end = end;
  }

  of(options: StatsOptions): StatsQuery {
    if (this.#query && this.#isKept(options as Kept)) return this.#query;
    const query = statsQuery(options, this.#retentionMs, this.#end);
    const percentiles = [...query.percentiles];
    if (query.atMs === undefined) this.#keep({ ...options, percentiles }, options as Kept, { ...query, percentiles });
    return query;
  }

  #keep(kept: Kept, options: Kept, query: StatsQuery): void {
    this.#options = kept;
    this.#names = 0;
    for (const name in options) if (!this.#isPassing(name)) this.#names++;
    this.#query = query;
  }

  #isKept(options: Kept): boolean {
    if (options === null || typeof options !== "object") return false;
    let names = 0;
    for (const name in options) {
      if (this.#isPassing(name)) continue;
      names++;
      const [kept, asked] = [this.#options[name], options[name]];
      if (kept !== asked && !(name === "percentiles" && areEqual(kept, asked))) return false;
    }
    return names === this.#names;
  }

  /** What is another at every call and no part of the question. */
  #isPassing(name: string): boolean {
    return name === "signal" || (name === "at" && this.#end === "now");
  }
}

function areEqual(kept: unknown, asked: unknown): boolean {
  if (!Array.isArray(kept) || !Array.isArray(asked) || kept.length !== asked.length) return false;
  for (let i = 0; i < kept.length; i++) if (kept[i] !== asked[i]) return false;
  return true;
}
