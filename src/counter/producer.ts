import { OrielError } from "../errors.ts";
import type { Store } from "../store/contract.ts";
import type { Clock } from "../time.ts";
import { add } from "./add.ts";
import { Batch } from "./batch.ts";

const LONGEST_SILENCE_MS = 1_200_000;
/** For how long, and how much of, what was acknowledged is kept in case the server loses it in a failover. */
const KEPT_MS = 10_000;
const KEPT_BYTES = 262_144;

export interface ProducerOptions {
  store: Store;
  key: string;
  layout: string;
  now: Clock;
  replicas: number;
  /** So much was counted, and is lost: the server has forgotten it, and so have we. */
  onLost(total: number): void;
}

interface Kept {
  sequence: number;
  atMs: number;
  total: number;
  rows: Uint8Array;
}

/**
 * Brings batches to one shard, one at a time, each under the next number of a name of our own: what arrives twice counts
 * once. What is counted meanwhile gathers in the open batch.
 *
 * A batch whose fate is unknown at its deadline was counted once or not at all; its name is then never used again, so
 * that no later one waits for it. Where a failover made the server forget the last batches, they are given again.
 */
export class Producer {
  readonly #options: ProducerOptions;
  #open: Batch | undefined;
  #closed: Batch[] = [];
  #isSending = false;
  #mark = newMark();
  #sequence = 0;
  #heardAtMs = 0;
  #kept: Kept[] = [];
  #keptBytes = 0;

  constructor(options: ProducerOptions) {
    this.#options = options;
  }

  /** The batch that is open, with room for a count and one more row. */
  batchFor(count: number): Batch {
    const open = this.#open;
    if (open?.hasRoomFor(count)) return open;
    if (open) {
      open.close();
      this.#closed.push(open);
    }
    this.#open = new Batch();
    return this.#open;
  }

  get isSending(): boolean {
    return this.#isSending;
  }

  /** Rows that wait for those under way. */
  get waitingRows(): number {
    return this.#closed.reduce((sum, batch) => sum + batch.rowCount, this.#open?.rowCount ?? 0);
  }

  /** Sends what waits, and what comes meanwhile; never rejects. */
  async send(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    for (let batch = this.#next(); batch; batch = this.#next())
      try {
        await this.#count(batch);
        batch.resolve();
      } catch (error) {
        this.#rename();
        batch.reject(error);
      }
    this.#isSending = false;
  }

  #next(): Batch | undefined {
    const closed = this.#closed.shift();
    if (closed) return closed;
    const open = this.#open;
    this.#open = undefined;
    return open;
  }

  async #count(batch: Batch): Promise<void> {
    const { now } = this.#options;
    if (now() - this.#heardAtMs > LONGEST_SILENCE_MS) this.#rename();
    const { total } = batch;
    const rows = batch.close();
    while (!(await this.#give(this.#sequence + 1, total, rows)));
    this.#sequence++;
    this.#heardAtMs = now();
    this.#keep({ sequence: this.#sequence, atMs: this.#heardAtMs, total, rows });
  }

  /** False where the server had forgotten batches, which it was given again, or a name that is no more. */
  async #give(sequence: number, total: number, rows: Uint8Array): Promise<boolean> {
    const { store, key, layout, replicas } = this.#options;
    const mark = this.#mark;
    const before = sequence === 1 ? "" : `${sequence - 1}`;
    const addition = { layout, mark, before, after: `${sequence}`, total, rows };
    const { isCounted, place } = await store.run(add, key, addition, replicas > 0 ? { replicas } : undefined);
    const reached = Number(place);
    if (isCounted || reached >= sequence) return true;
    await this.#giveAgain(reached);
    return false;
  }

  async #giveAgain(reached: number): Promise<void> {
    const lacking = this.#kept.filter(({ sequence }) => sequence > reached);
    const isWhole = lacking.length === this.#sequence - reached;
    if (!isWhole) {
      // What lies between is gone; what we still have goes under a new name.
      this.#options.onLost(Number.NaN);
    }
    if (!isWhole) this.#rename();
    for (const [i, { sequence, total, rows }] of lacking.entries())
      if (!(await this.#give(isWhole ? sequence : i + 1, total, rows)))
        throw new OrielError("LOST", "the server forgets what it counted faster than it is given again", {
          transient: true,
          applied: "unknown",
        });
    if (!isWhole) this.#sequence = lacking.length;
  }

  #keep(batch: Kept): void {
    this.#kept.push(batch);
    this.#keptBytes += batch.rows.length;
    while (this.#keptBytes > KEPT_BYTES || this.#kept[0]!.atMs < batch.atMs - KEPT_MS) {
      this.#keptBytes -= this.#kept.shift()!.rows.length;
      if (this.#kept.length === 0) break;
    }
  }

  #rename(): void {
    this.#mark = newMark();
    this.#sequence = 0;
    this.#heardAtMs = this.#options.now();
    this.#kept = [];
    this.#keptBytes = 0;
  }
}

function newMark(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return `w:${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
