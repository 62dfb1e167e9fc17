import type { Listeners } from "../../base/async/listeners.ts";
import type { DrainEvents } from "./events.ts";
import type { DivergedState, LedgerState } from "./shard-drain.ts";

const PAGES: Record<DivergedState | "MISMATCH" | "CORRUPT", string> = {
  "store-behind": "docs/runbook/counter-behind-its-table.md",
  "table-behind": "docs/runbook/counter-diverged.md",
  sum: "docs/runbook/counter-diverged.md",
  "other-counter": "docs/runbook/counter-diverged.md",
  MISMATCH: "docs/runbook/counter-mismatch.md",
  CORRUPT: "docs/runbook/counter-corrupt.md",
};
/** The page about unreadable rows. */
export const DAMAGED_PAGE = PAGES.CORRUPT;
/** A skipped shard is checked again after this time, or when its ledger has changed. */
const LOOK_AGAIN_MS = 60_000;

interface Left {
  state: DivergedState;
  reason: string;
  ledger: string;
  sinceMs: number;
}

/** Tracks skipped and failing shards, so that each state is emitted once for all shards that entered it together. */
export class ShardStates {
  readonly #listeners: Listeners<DrainEvents>;
  readonly #left = new Map<number, Left>();
  readonly #failing = new Map<number, string>();
  #newlyLeft: number[] = [];
  #newlyFailing = new Map<string, { shards: number[]; error: unknown }>();
  #recovered: number[] = [];
  #cycleFailure: string | undefined;

  constructor(listeners: Listeners<DrainEvents>) {
    this.#listeners = listeners;
  }

  /** The number of skipped shards. */
  get divergedCount(): number {
    return this.#left.size;
  }

  /** Whether a shard is skipped in the cycle that began at `nowMs`, with this row of the ledger. */
  isSkipped(shard: number, ledger: LedgerState, nowMs: number): boolean {
    const left = this.#left.get(shard);
    return left !== undefined && left.ledger === textOf(ledger) && nowMs - left.sinceMs < LOOK_AGAIN_MS;
  }

  leave(shard: number, state: DivergedState, reason: string, ledger: LedgerState, nowMs: number): void {
    if (this.#left.get(shard)?.state !== state) this.#newlyLeft.push(shard);
    this.#left.set(shard, { state, reason, ledger: textOf(ledger), sinceMs: nowMs });
    this.#failing.delete(shard);
  }

  fail(shard: number, error: unknown): void {
    const code = codeOf(error);
    if (this.#failing.get(shard) === code) return;
    this.#failing.set(shard, code);
    const same = this.#newlyFailing.get(code);
    if (same) same.shards.push(shard);
    else this.#newlyFailing.set(code, { shards: [shard], error });
  }

  succeed(shard: number): void {
    const wasLeft = this.#left.delete(shard);
    if (this.#failing.delete(shard) || wasLeft) this.#recovered.push(shard);
  }

  /** Reports that a whole cycle failed; undefined: it did not. */
  failCycle(error: unknown): void {
    const code = error === undefined ? undefined : codeOf(error);
    if (code !== undefined && code !== this.#cycleFailure) this.#listeners.emit("error", { shards: [], error });
    this.#cycleFailure = code;
  }

  /** Emits the changes since the last call. */
  emitChanges(): void {
    for (const state of ["store-behind", "table-behind", "sum", "other-counter"] as const) {
      const shards = this.#newlyLeft.filter((shard) => this.#left.get(shard)?.state === state).sort((a, b) => a - b);
      if (shards.length === 0) continue;
      const { reason } = this.#left.get(shards[0]!)!;
      this.#listeners.emit("diverged", { shards, shard: shards[0]!, reason, state, runbook: PAGES[state] });
    }
    this.#newlyLeft = [];
    for (const [code, { shards, error }] of this.#newlyFailing) {
      const page = code === "MISMATCH" || code === "CORRUPT" ? { runbook: PAGES[code] } : {};
      this.#listeners.emit("error", { shards, shard: shards[0]!, error, ...page });
    }
    this.#newlyFailing.clear();
    const recovered = this.#recovered;
    this.#recovered = [];
    if (recovered.length > 0) this.#listeners.emit("recovered", { shards: recovered.sort((a, b) => a - b) });
  }
}

function codeOf(error: unknown): string {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  return String(code ?? message ?? error);
}

function textOf({ generation, nonce }: LedgerState): string {
  return `${generation} ${nonce}`;
}
