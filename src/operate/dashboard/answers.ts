import { OrielError } from "../../base/errors.ts";
import { version } from "../../generated/version.ts";
import { HealthReader } from "../doctor/health/store-health.ts";
import { kindOf, offeredActions } from "../kinds/kinds.ts";
import type { Listed, Scope } from "../kinds/scope.ts";
import { serverNowMs } from "./actions.ts";
import type { Overview, RowNumbers, StructureEntry } from "./protocol.ts";

/** Rows whose numbers are asked for in one turn. */
export const ROWS_AT_ONCE = 50;
/** Parts of the span in the trend of a row. */
const PARTS = 24;
/** A ranking of all rows is computed at most this often. */
const RANK_MS = 10_000;
/** After the rows were read, they are not read again for this many times as long. */
const RESTS = 20;

export function errorText(error: unknown): string {
  return error instanceof OrielError ? `${error.code} ${error.message}` : String(error);
}

/** The answers that all pages of one dashboard share. */
export class Answers {
  readonly scope: Scope;
  readonly health: HealthReader;
  readonly #ranks = new Map<number, { untilMs: number; rows: Promise<Record<string, RowNumbers>> }>();

  constructor(scope: Scope) {
    this.scope = scope;
    this.health = new HealthReader(scope.watched, () => serverNowMs(scope.watched));
  }

  async overview(): Promise<Overview> {
    const { allowsActions, masksIds } = this.scope.settings;
    const [health, registry] = await Promise.all([
      this.health.read(),
      this.scope.registry().catch(() => undefined), // then `health` says why
    ]);
    const structures = registry ? await this.scope.structures() : [];
    return {
      nowMs: registry?.nowMs ?? Date.now(),
      version,
      structures: structures.map((each) => this.#entryOf(each)),
      processes: registry ? await this.scope.processes() : [],
      health,
      allowsActions,
      masksIds,
    };
  }

  #entryOf({ id, kind, name, settings, version, processes, seenMs, conflict }: Listed): StructureEntry {
    const own = kindOf(kind);
    return {
      id,
      kind,
      name,
      settings,
      version,
      processes,
      seenMs,
      columns: own.columns,
      actions: offeredActions(own, this.scope.settings),
      ...(conflict && { conflict }),
    };
  }

  /** The numbers of the named rows. A row that fails has its error. Unknown ids are left out. */
  async rows(ids: readonly string[], spanMs: number, parts = PARTS): Promise<Record<string, RowNumbers>> {
    const wanted = new Set(ids);
    const structures = (await this.scope.structures()).filter(({ id }) => wanted.has(id));
    return Object.fromEntries(await Promise.all(structures.map((each) => this.#row(each, spanMs, parts))));
  }

  /**
   * The numbers of all rows, for an order by one of them or by problems. They are at most 10 s old. Where reading them takes long,
   * they get older, so that a store with many structures is read for a small part of the time.
   */
  rank(spanMs: number): Promise<Record<string, RowNumbers>> {
    const { monotonic } = this.scope.store;
    const beganMs = monotonic();
    const known = this.#ranks.get(spanMs);
    if (known && beganMs < known.untilMs) return known.rows;
    const rank = { untilMs: Number.POSITIVE_INFINITY, rows: this.#allRows(spanMs) };
    if (this.#ranks.size > 20) this.#ranks.clear();
    this.#ranks.set(spanMs, rank);
    const read = () => {
      const endedMs = monotonic();
      rank.untilMs = Math.max(beganMs + RANK_MS, endedMs + (endedMs - beganMs) * RESTS);
    };
    rank.rows.then(read, () => this.#ranks.delete(spanMs));
    return rank.rows;
  }

  async #allRows(spanMs: number): Promise<Record<string, RowNumbers>> {
    const structures = (await this.scope.structures()).filter(({ kind }) => kindOf(kind).numbers);
    const rows: Record<string, RowNumbers> = {};
    for (let at = 0; at < structures.length; at += ROWS_AT_ONCE) {
      const some = structures.slice(at, at + ROWS_AT_ONCE);
      Object.assign(rows, Object.fromEntries(await Promise.all(some.map((each) => this.#row(each, spanMs, PARTS)))));
    }
    return rows;
  }

  async #row(structure: Listed, spanMs: number, parts: number): Promise<[id: string, RowNumbers]> {
    const { numbers } = kindOf(structure.kind);
    try {
      return [structure.id, (await numbers?.(this.scope, structure, { spanMs, parts })) ?? {}];
    } catch (error) {
      return [structure.id, { error: errorText(error) }];
    }
  }
}
