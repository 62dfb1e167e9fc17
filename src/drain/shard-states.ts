import type { Listeners } from "../async/listeners.ts";
import type { DrainEvents } from "./events.ts";
import type { LedgerState, Misfit } from "./shard-drain.ts";

const PAGES: Record<Misfit | "MISMATCH" | "CORRUPT", string> = {
  "store-behind": "docs/runbook/counter-behind-its-table.md",
  "table-behind": "docs/runbook/counter-diverged.md",
  sum: "docs/runbook/counter-diverged.md",
  MISMATCH: "docs/runbook/counter-mismatch.md",
  CORRUPT: "docs/runbook/counter-corrupt.md",
};
/** What to do about rows that cannot be read. */
export const DAMAGED_PAGE = PAGES.CORRUPT;
/** A shard that was left alone is looked at again after this, or when its ledger has changed. */
const LOOK_AGAIN_MS = 60_000;

interface Left {
  state: Misfit;
  reason: string;
  ledger: string;
  sinceMs: number;
}

/** Which shards are left alone or fail, so that a state is told once, for all shards that came into it together. */
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

  /** How many are left alone. */
  get leftCount(): number {
    return this.#left.size;
  }

  /** Whether a shard is left alone in a cycle that began now, in which its ledger stands there. */
  isLeft(shard: number, ledger: LedgerState, nowMs: number): boolean {
    const left = this.#left.get(shard);
    return left !== undefined && left.ledger === textOf(ledger) && nowMs - left.sinceMs < LOOK_AGAIN_MS;
  }

  leave(shard: number, state: Misfit, reason: string, ledger: LedgerState, nowMs: number): void {
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

  /** All of a cycle failed; undefined: it did not. */
  failCycle(error: unknown): void {
    const code = error === undefined ? undefined : codeOf(error);
    if (code !== undefined && code !== this.#cycleFailure) this.#listeners.tell("error", { shards: [], error });
    this.#cycleFailure = code;
  }

  /** Tells what has changed since it was last called. */
  tell(): void {
    for (const state of ["store-behind", "table-behind", "sum"] as const) {
      const shards = this.#newlyLeft.filter((shard) => this.#left.get(shard)?.state === state).sort((a, b) => a - b);
      if (shards.length === 0) continue;
      const { reason } = this.#left.get(shards[0]!)!;
      this.#listeners.tell("diverged", { shards, shard: shards[0]!, reason, state, runbook: PAGES[state] });
    }
    this.#newlyLeft = [];
    for (const [code, { shards, error }] of this.#newlyFailing) {
      const page = code === "MISMATCH" || code === "CORRUPT" ? { runbook: PAGES[code] } : {};
      this.#listeners.tell("error", { shards, shard: shards[0]!, error, ...page });
    }
    this.#newlyFailing.clear();
    const recovered = this.#recovered;
    this.#recovered = [];
    if (recovered.length > 0) this.#listeners.tell("recovered", { shards: recovered.sort((a, b) => a - b) });
  }
}

function codeOf(error: unknown): string {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  return String(code ?? message ?? error);
}

function textOf({ generation, nonce }: LedgerState): string {
  return `${generation} ${nonce}`;
}
