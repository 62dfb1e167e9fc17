import { type StatsOptions, type StatsQuery, statsKindOf, statsQuery } from "../stats/window-query.ts";

type LastOptions = Readonly<Record<string, unknown>>;

/** A query with a text that equal queries have in common, and no others. */
export interface KnownQuery extends StatsQuery {
  kind: string;
}

/** The last checked query of a series. A caller that passes the same options again skips the check. */
export class QueryCache {
  readonly #retentionMs: number;
  readonly #end: "at" | "now";
  #last: LastOptions = {};
  #names = -1;
  #query: KnownQuery | undefined;

  /** `end`: same as in `statsQuery`. */
  constructor(retentionMs: number, end: "at" | "now") {
    this.#retentionMs = retentionMs;
    this.#end = end;
  }

  of(options: StatsOptions): KnownQuery {
    if (this.#query && this.#isLast(options as LastOptions)) return this.#query;
    const checked = statsQuery(options, this.#retentionMs, this.#end);
    const { percentiles } = checked;
    const query = { ...checked, kind: statsKindOf(checked) };
    if (query.atMs !== undefined) return query;
    this.#query = query;
    this.#last = { ...options, percentiles };
    this.#names = 0;
    for (const name in options) if (!this.#isPerCall(name)) this.#names++;
    return query;
  }

  #isLast(options: LastOptions): boolean {
    if (options === null || typeof options !== "object") return false;
    let names = 0;
    for (const name in options) {
      if (this.#isPerCall(name)) continue;
      names++;
      const [last, asked] = [this.#last[name], options[name]];
      if (last !== asked && !(name === "percentiles" && areEqual(last, asked))) return false;
    }
    return names === this.#names;
  }

  /** Options that differ from call to call and are no part of the query. */
  #isPerCall(name: string): boolean {
    return name === "signal" || (name === "at" && this.#end === "now");
  }
}

function areEqual(last: unknown, asked: unknown): boolean {
  if (!Array.isArray(last) || !Array.isArray(asked) || last.length !== asked.length) return false;
  for (let i = 0; i < last.length; i++) if (last[i] !== asked[i]) return false;
  return true;
}
