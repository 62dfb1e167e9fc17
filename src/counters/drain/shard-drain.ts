import type { Clock } from "../../base/time.ts";
import { readField, valuesText } from "../counter/format/layout.ts";
import type { ReadTarget } from "../counter/read.ts";
import { type DamagedField, readShard, type ShardCounts } from "../counter/read-shard.ts";
import { acknowledge, type Frozen, freeze, ledgerText, part, sweep } from "../counter/steps/generations.ts";
import { look, page } from "../counter/steps/reads.ts";
import { isOfOtherShard } from "../counter/table.ts";
import { isFedByOther, OTHER_COUNTER, OTHER_TABLE } from "./diagnosis.ts";
import type { DrainRow, Sink } from "./sql/sink.ts";

const READS = 3;
const SWEPT_AT_A_TIME = 1000;

export interface ShardDrainOptions {
  target: ReadTarget;
  sink: Sink;
  /** Limits the number of concurrent transactions. */
  limited<Output>(job: () => Promise<Output>): Promise<Output>;
  idleMarks: IdleMarks;
  replicas: number;
  sqlTimeoutMs: number;
  now: Clock;
}

export interface LedgerState {
  generation: number;
  nonce: string;
}

export interface ShardTask {
  shard: number;
  fence: number;
  /** The ledger's row before the cycle read the store. Without a row: generation 0 and an empty nonce. */
  ledger: LedgerState;
  signal: AbortSignal;
}

/**
 * Why a shard is skipped. "store-behind": the store is behind the ledger, or differs from it. "table-behind": the
 * ledger is behind the store. "sum": the rows of a generation do not add up to its sum. "other-counter": another counter is
 * drained into the table.
 */
export type DivergedState = "store-behind" | "table-behind" | "sum" | "other-counter";

/** idle: nothing to drain. stale: another process drained the generation, or a failover undid the freeze. */
export type DrainResult =
  | {
      status: "drained";
      generation: number;
      nonce: string;
      rows: number;
      events: bigint;
      sqlMs: number;
      /** Unreadable rows. They stay in the store. */
      damaged: DamagedField[];
    }
  | { status: "idle"; acknowledged: number }
  | { status: "stale" }
  | { status: "superseded"; fence: number }
  | { status: "diverged"; state: DivergedState; reason: string };

type Generation = NonNullable<Frozen["generation"]>;

/**
 * Moves one generation of one shard into the table, exactly once. Any number of processes may try, and may die at any
 * point: a frozen generation does not change, and the ledger accepts each number once, with its nonce.
 *
 *     freeze ──> read, until the rows add up ──> (replicas have it) ──> apply: ledger and rows ──> acknowledge ──> sweep
 */
export class ShardDrain {
  readonly #options: ShardDrainOptions;

  constructor(options: ShardDrainOptions) {
    this.#options = options;
  }

  /** Drains a generation that was left frozen, and then the current one. */
  async run(task: ShardTask): Promise<DrainResult> {
    const own = crypto.randomUUID();
    const first = await this.#drain(task, own);
    if (first.status !== "drained" || first.nonce.startsWith(own)) return first;
    const second = await this.#drain({ ...task, ledger: first }, own);
    if (second.status !== "drained") return second.status === "idle" ? first : second;
    const [rows, events] = [first.rows + second.rows, first.events + second.events];
    const damaged = [...first.damaged, ...second.damaged];
    return { ...second, rows, events, sqlMs: first.sqlMs + second.sqlMs, damaged };
  }

  async #drain(task: ShardTask, own: string): Promise<DrainResult> {
    const { target, sink, limited, now, sqlTimeoutMs } = this.#options;
    const { shard, fence, signal } = task;
    const { acknowledged, generation } = await this.#freeze(shard, own, signal);
    if (task.ledger.generation > acknowledged + (generation ? 1 : 0))
      return this.#storeBehind(
        task,
        task.ledger,
        `the ledger has generation ${task.ledger.generation}, the store's last is ${acknowledged}`,
      );
    if (!generation) return { status: "idle", acknowledged };
    const { number, nonce, sum } = generation;
    const read = await this.#read(shard, generation, signal);
    if (read.nonces.get(number) !== nonce) return { status: "stale" };
    if (task.ledger.generation === number - 1 && isOfOtherShard(read, task.ledger))
      return { status: "diverged", state: "other-counter", reason: OTHER_COUNTER };
    const counts = read.counts.get(number) ?? new Map<string, bigint>();
    const damaged = read.damaged.filter((field) => field.generation === number);
    // An unreadable row explains a sum that is too small. Nothing explains one that is too large.
    const events = total(counts);
    if (events > sum || (events < sum && damaged.length === 0))
      return { status: "diverged", state: "sum", reason: `generation ${number} adds up to ${events}, not ${sum}` };
    if (this.#options.replicas > 0 && !(await this.#isStill(shard, generation, signal))) return { status: "stale" };

    const rows = rollUp(target, counts);
    const batch = { shard, generation: number, nonce, fence, events, rows };
    const startMs = now();
    const applied = await limited(() => sink.apply(target.shape, batch, { timeoutMs: sqlTimeoutMs, signal }));
    if (applied.status === "superseded") return applied;
    if (applied.status === "behind") return this.#behind(task, number, applied);
    const sqlMs = now() - startMs;
    const { store, keys, layout } = target;
    if (!(await store.run(acknowledge, keys[shard]!, { layout, generation: number, nonce }, { signal })))
      return this.#storeBehind(
        task,
        { generation: number, nonce },
        `generation ${number} is in the table, but the store has no such generation`,
      );
    await this.#sweep(shard, read, number, signal);
    return { status: "drained", generation: number, nonce, rows: rows.length, events, sqlMs, damaged };
  }

  #freeze(shard: number, nonce: string, signal: AbortSignal, replicas = 0): Promise<Frozen> {
    const { store, keys, layout } = this.#options.target;
    return store.run(freeze, keys[shard]!, { layout, nonce }, replicas > 0 ? { signal, replicas } : { signal });
  }

  /**
   * Reads in pages. If the rows do not add up, reads the whole shard: it may have moved to another server during the
   * read.
   */
  async #read(shard: number, { number, nonce, sum }: Generation, signal: AbortSignal): Promise<ShardCounts> {
    const { store, keys, layout } = this.#options.target;
    for (let left = READS; ; left--) {
      const read = await readShard(store, keys[shard]!, layout, left > 1 ? "pages" : "whole", signal);
      const isAll =
        read.nonces.get(number) === nonce && (total(read.counts.get(number)) === sum || read.damaged.length > 0);
      if (left === 1 || read.acknowledged >= number || isAll) return read;
    }
  }

  /** Whether the replicas have the generation that was read. Another generation would have another nonce. */
  async #isStill(shard: number, { number, nonce, sum }: Generation, signal: AbortSignal): Promise<boolean> {
    const { generation } = await this.#freeze(shard, crypto.randomUUID(), signal, this.#options.replicas);
    return generation?.number === number && generation.nonce === nonce && generation.sum === sum;
  }

  /**
   * The ledger has another generation: another process has drained, or the store or the table was restored from a
   * backup.
   */
  async #behind(task: ShardTask, number: number, ledger: { generation: number; nonce: string }): Promise<DrainResult> {
    if (ledger.generation >= number) {
      const { store, keys, layout } = this.#options.target;
      const { acknowledged, base } = await store.run(
        page,
        keys[task.shard]!,
        { layout, cursor: "0", count: 1 },
        { signal: task.signal },
      );
      if (acknowledged + base >= number) return { status: "stale" };
    }
    const reason =
      ledger.generation === number
        ? `generation ${number} of the ledger and generation ${number} of the store are different (their nonces differ)`
        : `the ledger has generation ${ledger.generation}, but the store offers generation ${number}`;
    if (ledger.generation >= number) return this.#storeBehind(task, ledger, reason);
    const isEmpty = ledger.generation === 0;
    return { status: "diverged", state: "table-behind", reason: isEmpty ? `${reason}: ${OTHER_TABLE}` : reason };
  }

  /** Begins a new generation, so that later counts are apart from those that the table may have. */
  async #storeBehind({ shard, signal }: ShardTask, ledger: LedgerState, reason: string): Promise<DrainResult> {
    const { store, keys, layout } = this.#options.target;
    if (isFedByOther(await store.run(look, keys[shard]!, null, { signal }), ledger))
      return { status: "diverged", state: "other-counter", reason: OTHER_COUNTER };
    await store.run(part, keys[shard]!, { layout, ledger: ledgerText(ledger) }, { signal });
    return { status: "diverged", state: "store-behind", reason };
  }

  async #sweep(shard: number, read: ShardCounts, generation: number, signal: AbortSignal): Promise<void> {
    const { target, idleMarks } = this.#options;
    const { store, keys, layout } = target;
    const fields = [...read.leftovers];
    for (const row of read.counts.get(generation)?.keys() ?? []) fields.push(`${generation - read.base}|${row}`);
    const fieldsAndMarks = fields.flatMap((field) => [field, ""]);
    for (const [mark, standing] of idleMarks.find(shard, read.producers)) fieldsAndMarks.push(mark, standing);
    for (let at = 0; at < fieldsAndMarks.length; at += 2 * SWEPT_AT_A_TIME)
      await store.run(
        sweep,
        keys[shard]!,
        { layout, fields: fieldsAndMarks.slice(at, at + 2 * SWEPT_AT_A_TIME) },
        { signal },
      );
  }
}

function total(counts: ReadonlyMap<string, bigint> | undefined): bigint {
  let sum = 0n;
  for (const count of counts?.values() ?? []) sum += count;
  return sum;
}

const MINUTE_MS = 60_000;

/** Computes the rows of all buckets from the counts of the finest one. The rows of each bucket have the same total. */
function rollUp({ shape, calendar }: ReadTarget, counts: ReadonlyMap<string, bigint>): DrainRow[] {
  const rows = new Map<string, { row: Omit<DrainRow, "count">; count: bigint }>();
  for (const [field, count] of counts) {
    const { startMinute, values } = readField(field, shape.dimensions.length);
    // A row without values of added dimensions equals one with empty values.
    const text = valuesText(values);
    for (const bucket of shape.buckets) {
      const start = calendar.startOf(bucket, startMinute);
      const key = `${bucket}|${start}${text}`;
      const known = rows.get(key);
      if (known) known.count += count;
      else rows.set(key, { row: { bucket, startMs: start * MINUTE_MS, values }, count });
    }
  }
  return [...rows.values()].map(({ row, count }) => ({ ...row, count }));
}

/** Longer than any producer stays silent under one mark, and than any request is in flight. */
const GONE_AFTER_MS = 3_600_000;

/** Finds the marks of producers that have not changed for an hour, by this process's monotonic clock. */
export class IdleMarks {
  readonly #now: Clock;
  readonly #seen = new Map<string, { position: string; sinceMs: number }>();

  constructor(now: Clock) {
    this.#now = now;
  }

  /** Returns the idle marks among the current marks of a shard. */
  find(shard: number, marks: ReadonlyMap<string, string>): Map<string, string> {
    const nowMs = this.#now();
    const gone = new Map<string, string>();
    for (const [mark, position] of marks) {
      const name = `${shard} ${mark}`;
      const seen = this.#seen.get(name);
      if (seen?.position !== position) this.#seen.set(name, { position, sinceMs: nowMs });
      else if (nowMs - seen.sinceMs > GONE_AFTER_MS) {
        gone.set(mark, position);
        this.#seen.delete(name);
      }
    }
    return gone;
  }
}
