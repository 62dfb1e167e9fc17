import { Listeners } from "../../base/async/listeners.ts";
import { OrielError } from "../../base/errors.ts";
import { settingsOf } from "../../base/options.ts";
import { runOuter, Site } from "../../base/site.ts";
import type { Clock } from "../../base/time.ts";
import { register } from "../../store/registry/register.ts";
import { checkLayout } from "../counter/agreement.ts";
import { Counters, targetOf } from "../counter/counters.ts";
import { damagedLedger, damagedRows, type ReadTarget } from "../counter/read.ts";
import type { LedgerRow } from "../counter/table.ts";
import { OTHER_TABLE, withJsonCounts } from "./diagnosis.ts";
import { type CycleReport, DRAIN_EVENTS, type DrainEvents } from "./events.ts";
import { Leadership } from "./leadership.ts";
import { type AnnouncedDrain, DRAIN, type DrainOptions, type DrainSettings } from "./options.ts";
import { type DivergedState, type DrainResult, IdleMarks, type LedgerState, ShardDrain } from "./shard-drain.ts";
import { DAMAGED_PAGE, ShardStates } from "./shard-states.ts";
import type { Sink } from "./sql/sink.ts";

const NO_ROW: LedgerRow = { shard: -1, generation: 0, nonce: "", fence: 0, events: 0n };

/**
 * Moves the counts of counters into a table in cycles. Each event is in the store or in the table exactly once, even if
 * the process is killed, two processes drain, or answers of the database are lost.
 *
 * A lock elects the process that drains. The ledger, written in the same transaction as the rows, guarantees exactness.
 * If table and store do not fit (a backup was restored, the store was flushed), the shard is skipped until it is
 * repaired (`oriel counters rebase`), and `diverged` is emitted once. All shards are drained concurrently, with at most
 * `concurrency` transactions at a time, so an unreachable primary does not delay the others.
 */
export class DrainService {
  readonly #target: ReadTarget;
  readonly #sink: Sink;
  readonly #leadership: Leadership;
  readonly #settings: DrainSettings;
  readonly #now: Clock;
  readonly #shards: ShardDrain;
  readonly #listeners: Listeners<DrainEvents>;
  readonly #at: Site;
  readonly #states: ShardStates;
  /** Shards whose counts wait, with the time since when. */
  readonly #waiting = new Map<number, number>();
  #timer: ReturnType<typeof setInterval> | undefined;
  #cycle: Promise<CycleReport> | undefined;
  /** The cycle after the running one, if a caller waits for it. */
  #next: Promise<CycleReport> | undefined;
  #beganAtMs = 0;

  /** Throws ARGUMENT for a wrong option. Sends nothing yet. */
  constructor(options: DrainOptions) {
    const counters = options?.counters instanceof Counters ? targetOf(options.counters) : undefined;
    this.#at = new Site("DrainService", counters?.shape.name, counters?.store);
    this.#listeners = new Listeners(this.#at, DRAIN_EVENTS);
    this.#states = new ShardStates(this.#listeners);
    this.#settings = this.#at.checked(undefined, () => settingsOf(DRAIN, options));
    this.#target = counters!;
    this.#sink = options.sink;
    this.#leadership = new Leadership(this.#settings.lock, (fence) => this.#listeners.emit("superseded", { fence }));
    this.#now = this.#target.store.monotonic;
    const { concurrency, replicas, sqlTimeoutMs } = this.#settings;
    const semaphore = new Semaphore(concurrency);
    this.#shards = new ShardDrain({
      target: this.#target,
      sink: options.sink,
      limited: (job) => semaphore.run(job),
      idleMarks: new IdleMarks(this.#now),
      replicas,
      sqlTimeoutMs,
      now: this.#now,
    });
    const { store, shape } = this.#target;
    const own: AnnouncedDrain = { every: this.#settings.everyMs };
    register(store, "DrainService", shape.name, this, {}, own);
  }

  /** The name of its counters. */
  get name(): string {
    return this.#target.shape.name;
  }

  /** Whether this process drains: it was started, and holds the lock if there is one. */
  get isDraining(): boolean {
    return this.#timer !== undefined && this.#leadership.isLeading;
  }

  /** Calls `listener` for each such event. Returns a function that removes it. */
  on<Name extends keyof DrainEvents>(name: Name, listener: (event: DrainEvents[Name]) => void): () => void {
    return this.#listeners.on(name, listener);
  }

  /** Creates missing tables and starts to drain. Rejects if the tables cannot be created. */
  async start(): Promise<void> {
    if (this.#timer !== undefined) return;
    await runOuter(this.#at, "start", () => this.#sink.createTables(this.#target.shape));
    this.#timer = setInterval(() => this.#tick(), this.#settings.everyMs);
    this.#tick();
  }

  /** Waits for the running cycle, stops, and releases the lock for another process. */
  stop(): Promise<void> {
    return runOuter(this.#at, "stop", async () => {
      clearInterval(this.#timer);
      this.#timer = undefined;
      await (this.#next ?? this.#cycle)?.catch(() => {});
      await this.#leadership.resign();
    });
  }

  /**
   * Runs one cycle now, or after the running one, so that counts acknowledged before this call are drained. Rejects if the cycle
   * could not start, and with UNAVAILABLE if another process holds the lock.
   */
  drainOnce(): Promise<CycleReport> {
    return runOuter(this.#at, "drainOnce", () => {
      if (!this.#cycle) return this.#run();
      // The running cycle may have passed the shard of a count that was added just now.
      this.#next ??= this.#cycle
        .catch(() => {})
        .then(() => {
          this.#next = undefined;
          return this.#run();
        });
      return this.#next;
    });
  }

  #run(): Promise<CycleReport> {
    this.#cycle ??= this.#leadOnce().finally(() => {
      this.#cycle = undefined;
    });
    return this.#cycle;
  }

  async #leadOnce(): Promise<CycleReport> {
    if (!(await this.#leadership.leads()))
      throw new OrielError("UNAVAILABLE", "another process drains", { transient: true });
    try {
      return await this.#drain();
    } finally {
      if (this.#timer === undefined) await this.#leadership.resign();
    }
  }

  async #tick(): Promise<void> {
    if (this.#cycle) {
      this.#listeners.emit("skipped", { runningMs: this.#now() - this.#beganAtMs });
      return;
    }
    try {
      if (await this.#leadership.leads()) await this.#run();
      this.#states.failCycle(undefined);
    } catch (error) {
      this.#states.failCycle(this.#at.outer("drain", error));
    }
  }

  async #drain(): Promise<CycleReport> {
    this.#beganAtMs = this.#now();
    const { cycleTimeoutMs } = this.#settings;
    const late = AbortSignal.timeout(cycleTimeoutMs);
    const { signal: lost } = this.#leadership;
    const signal = lost ? AbortSignal.any([late, lost]) : late;
    const none = { drained: 0, failed: 0, diverged: 0, rows: 0, events: 0n, durationMs: 0 };
    const report: CycleReport = withJsonCounts(none);
    await this.#checkLayout(signal);
    const ledger = await this.#ledger(signal);
    const idle = new Map<number, number>();
    let supersededBy: number | undefined;
    const drainShard = async (shard: number) => {
      const row = ledger.get(shard) ?? NO_ROW;
      if (this.#states.isSkipped(shard, row, this.#beganAtMs)) return;
      const task = { shard, fence: this.#leadership.fence ?? row.fence, ledger: row, signal };
      try {
        if (row.damaged !== undefined) throw new OrielError("CORRUPT", damagedLedger(this.#target.shape.name, row));
        const drained = await this.#shards.run(task);
        if (drained.status === "superseded") supersededBy = drained.fence;
        else if (drained.status === "diverged") this.#leave(shard, drained.state, drained.reason, row);
        else this.#waiting.delete(shard);
        if (drained.status === "idle" && drained.acknowledged > row.generation) idle.set(shard, drained.acknowledged);
        else if (drained.status === "idle" || drained.status === "drained") this.#states.succeed(shard);
        if (drained.status === "drained") this.#note(report, shard, drained);
      } catch (error) {
        this.#failed(report, shard, late.aborted ? timedOut(cycleTimeoutMs, error) : error);
      }
    };
    await Promise.all(this.#target.keys.map((_, shard) => drainShard(shard)));
    await this.#checkIdle(idle, signal);
    if (supersededBy !== undefined) {
      this.#listeners.emit("superseded", { fence: supersededBy });
      await this.#leadership.resign();
    }
    this.#states.emitChanges();
    report.diverged = this.#states.divergedCount;
    report.durationMs = this.#now() - this.#beganAtMs;
    const waiting = [...this.#waiting.values()];
    if (waiting.length > 0)
      this.#listeners.emit("lag", { shards: waiting.length, longestMs: this.#now() - Math.min(...waiting) });
    this.#listeners.emit("cycle", report);
    return report;
  }

  /**
   * If the layout cannot be read, shards on other primaries are still drained, because each shard stores the layout.
   */
  async #checkLayout(signal: AbortSignal): Promise<void> {
    try {
      await checkLayout(this.#target, signal);
    } catch (error) {
      if (error instanceof OrielError && error.code === "MISMATCH") throw error;
    }
  }

  async #ledger(signal: AbortSignal): Promise<Map<number, LedgerRow>> {
    const timeoutMs = this.#settings.cycleTimeoutMs;
    const rows = await this.#sink.ledger(this.#target.shape, { timeoutMs, signal });
    return new Map(rows.map((row) => [row.shard, row]));
  }

  /** Checks shards with more acknowledged generations than the ledger had before. The ledger must have them now. */
  async #checkIdle(idle: ReadonlyMap<number, number>, signal: AbortSignal): Promise<void> {
    if (idle.size === 0) return;
    const ledger = await this.#ledger(signal);
    for (const [shard, acknowledged] of idle) {
      const row = ledger.get(shard) ?? NO_ROW;
      if (row.generation >= acknowledged) this.#states.succeed(shard);
      else
        this.#leave(
          shard,
          "table-behind",
          `the ledger has generation ${row.generation}, the store has acknowledged ${acknowledged}${row.generation === 0 ? `: ${OTHER_TABLE}` : ""}`,
          row,
        );
    }
  }

  #leave(shard: number, state: DivergedState, reason: string, ledger: LedgerState): void {
    this.#states.leave(shard, state, reason, ledger, this.#beganAtMs);
  }

  #note(report: CycleReport, shard: number, drained: DrainResult & { status: "drained" }): void {
    const { generation, rows, events, sqlMs, damaged } = drained;
    report.drained++;
    report.rows += rows;
    report.events += events;
    this.#listeners.emit("shard", withJsonCounts({ shard, generation, rows, events, sqlMs }));
    if (damaged.length === 0) return;
    const error = this.#at.error("drain", damagedRows(this.#target.keys[shard]!, damaged));
    this.#listeners.emit("error", { shards: [shard], shard, error, runbook: DAMAGED_PAGE });
  }

  #failed(report: CycleReport, shard: number, error: unknown): void {
    report.failed++;
    if (!this.#waiting.has(shard)) this.#waiting.set(shard, this.#beganAtMs);
    this.#states.fail(shard, this.#at.outer("drain", error));
  }
}

function timedOut(cycleTimeoutMs: number, cause: unknown): OrielError {
  return new OrielError("DEADLINE", `the cycle did not end within ${cycleTimeoutMs} ms`, { cause, transient: true });
}

/** Runs at most this number of jobs at a time. Others wait in order. */
class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(places: number) {
    this.#free = places;
  }

  async run<Output>(job: () => Promise<Output>): Promise<Output> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await job();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }
}
