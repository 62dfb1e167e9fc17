import type { OrielError } from "../../base/errors.ts";
import { Series } from "../../engine/series/series.ts";
import type { Store } from "../../store/contract.ts";
import { tap } from "../../store/registry/live.ts";
import { deniedKey, type Outcome, outcomeSeries, outcomesKey } from "./names.ts";
import { denied } from "./steps/denied.ts";
import { lines } from "./steps/lines.ts";

const MAX_IDS = 1000;
const DAY_MS = 86_400_000;

interface DecisionLike {
  readonly allowed: boolean;
  readonly policy: string;
  readonly policies: readonly { name: string; allowed: boolean; shadow: boolean }[];
}

/** The members of `Limiter` that a history uses. */
export interface RecordedLimiter {
  readonly name: string;
  readonly [tap]: (listener: { decided(decision: DecisionLike, hasDecided: boolean, id: string): void }) => void;
}

interface Count extends Outcome {
  pending: number;
  /** By the store's monotonic clock. */
  listAgainMs: number;
  readonly series: Series;
}

/** The decisions of one limiter's instances in this process, until the store has them. */
export class LimiterHistory {
  readonly #store: Store;
  readonly #name: string;
  readonly #retentionMs: number;
  readonly #onCount: () => void;
  readonly #counts = new Map<string, Count>();
  readonly #denied = new TopCounts(MAX_IDS);

  /** `onCount` is called after each decision. */
  constructor(store: Store, name: string, retentionMs: number, onCount: () => void) {
    this.#store = store;
    this.#name = name;
    this.#retentionMs = retentionMs;
    this.#onCount = onCount;
  }

  /** Counts the decisions of `take`, `acquire` and `takeAll` from now on, until `isOver`. */
  attach(limiter: RecordedLimiter, isOver: () => boolean): void {
    limiter[tap]({
      decided: (decision, hasDecided, id) => {
        if (!isOver()) this.#count(decision, hasDecided, id);
      },
    });
  }

  #count({ allowed, policy, policies }: DecisionLike, hasDecided: boolean, id: string): void {
    if (hasDecided) {
      this.#of(allowed ? "allowed" : "denied", policy).pending++;
      if (!allowed) this.#denied.add(id);
    }
    for (const each of policies) if (each.shadow && !each.allowed) this.#of("shadow", each.name).pending++;
    this.#onCount();
  }

  #of(outcome: Outcome["outcome"], policy: string): Count {
    const key = `${outcome} ${policy}`;
    let count = this.#counts.get(key);
    if (!count) {
      const series = new Series(this.#store, outcomeSeries(this.#name, { outcome, policy }), {
        retention: this.#retentionMs,
        values: "float64",
      });
      count = { outcome, policy, pending: 0, listAgainMs: Number.NEGATIVE_INFINITY, series };
      this.#counts.set(key, count);
    }
    return count;
  }

  /** Sends the counts. The next call sends those again that the store surely does not have. Never rejects. */
  async flush(): Promise<void> {
    const counts = [...this.#counts.values()];
    await Promise.all([
      ...counts.map((each) => this.#send(each)),
      ...counts.map((each) => this.#list(each)),
      this.#sendIds(),
    ]);
  }

  async #send(count: Count): Promise<void> {
    const { pending, series } = count;
    if (pending === 0) return;
    count.pending = 0;
    try {
      await series.record(pending);
    } catch (error) {
      if ((error as OrielError).applied === "no") count.pending += pending;
    }
  }

  /** The list expires, so each process adds its outcomes each day. */
  async #list(count: Count): Promise<void> {
    const nowMs = this.#store.monotonic();
    if (nowMs < count.listAgainMs) return;
    const line = JSON.stringify({ outcome: count.outcome, policy: count.policy });
    try {
      await this.#store.run(lines, outcomesKey(this.#store, this.#name), { line, isWanted: false });
      count.listAgainMs = nowMs + DAY_MS;
    } catch {
      // The next flush tries again.
    }
  }

  async #sendIds(): Promise<void> {
    const added = this.#denied.takeAll();
    if (added.size === 0) return;
    await this.#store.run(denied, deniedKey(this.#store, this.#name), { added, isWanted: false }).catch(() => {});
  }

  /** Called once, after the last `flush`. */
  async close(): Promise<void> {
    await Promise.all([...this.#counts.values()].map(({ series }) => series.close()));
  }
}

/**
 * Counts of many ids in bounded memory. They are exact up to `maxIds` ids. Above that, each count may be too small, by at most
 * the total divided by `maxIds + 1`: J. Misra, D. Gries, "Finding repeated elements", 1982.
 */
export class TopCounts {
  readonly #maxIds: number;
  #counts = new Map<string, number>();

  constructor(maxIds: number) {
    this.#maxIds = maxIds;
  }

  /** O(1) on average. */
  add(id: string): void {
    const count = this.#counts.get(id);
    if (count !== undefined || this.#counts.size < this.#maxIds) {
      this.#counts.set(id, (count ?? 0) + 1);
      return;
    }
    for (const [each, its] of this.#counts)
      if (its === 1) this.#counts.delete(each);
      else this.#counts.set(each, its - 1);
  }

  /** Returns the counts and begins anew. */
  takeAll(): ReadonlyMap<string, number> {
    const counts = this.#counts;
    this.#counts = new Map();
    return counts;
  }
}
