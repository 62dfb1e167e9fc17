import type { OneAtATime } from "../../../base/async/beside.ts";
import { endsWithRequest } from "../../../base/async/of-request.ts";
import { OrielError } from "../../../base/errors.ts";
import { hexOf } from "../../../base/hex.ts";
import type { Clock } from "../../../base/time.ts";
import type { Store } from "../../../store/contract.ts";
import { packStrings } from "../../../store/message-pack.ts";
import type { Agreement, Shaped } from "../agreement.ts";
import { failoverTimes } from "../format/layout.ts";
import { add } from "../steps/add.ts";
import { Batch, type Pending } from "./batch.ts";
import type { CellMemory } from "./cell-memory.ts";
import { type UnconfirmedBatch, UnconfirmedBatches } from "./unconfirmed-batches.ts";

const PAUSE_MS = 100;

export interface ProducerOptions {
  store: Store;
  key: string;
  shaped: Shaped;
  agreement: Agreement;
  replicas: number;
  now: Clock;
  pause(ms: number): Promise<void>;
  /** Reports counts that a failover lost and that could not be sent again. NaN: their number is unknown. */
  onLost: (loss: { total: number }) => void;
  pending: Pending;
  /** Receives the rows of each counted batch. Never throws. */
  onCounted?: ((rows: Uint8Array) => void) | undefined;
}

/**
 * Sends batches to one shard, one at a time. Each has the next number under a mark of this producer, so a batch that
 * arrives twice counts once. New counts collect in the open batch while another one is sent. The outcomes:
 *
 *   answered in time ........→ callers resolve; the batch is kept for a while (unconfirmed-batches.ts)
 *   no answer in time .......→ callers reject with applied "unknown"; the batch is sent again until it is answered
 *   not sent ................→ callers reject with applied "no"; the batch is dropped
 *   the mark is behind it ...→ a failover lost the last batches; the kept ones are sent again first, in order
 *   the mark is gone ........→ its value is unknown after a long silence; reported as lost, then a new mark
 */
export class Producer implements OneAtATime {
  readonly #options: ProducerOptions;
  #open: Batch | undefined;
  #closed: Batch[] = [];
  #sending: Batch | undefined;
  #turn: Promise<void> | undefined;
  #isClosed = false;
  /** Drawn with the first count, because Workers allow no random numbers while a module loads. */
  #mark = "";
  /** Number of the last acknowledged batch. */
  #number = 0;
  /** The last number of any batch. A number is never reused, because a late copy of its batch may still arrive. */
  #used = 0;
  /** When the mark was created or last known to move. */
  #heardAt: [monotonicMs: number, wallMs: number];
  readonly #unconfirmed = new UnconfirmedBatches();
  /** Where the last confirmed batch was counted, as `<born>.<generation>`. */
  #where = ".0";

  constructor(options: ProducerOptions) {
    this.#options = options;
    this.#heardAt = this.#clocks();
  }

  /** The open batch for cells of this memory, with room for this count and one more row. */
  batchFor(count: number, memory: CellMemory): Batch {
    if (this.#open?.hasRoomFor(count, memory)) return this.#open;
    this.endBatch();
    this.#open = new Batch(memory, this.#options.pending);
    return this.#open;
  }

  /** Closes the open batch, which drops its reference to the cells. */
  endBatch(): void {
    if (!this.#open) return;
    this.#open.close();
    this.#closed.push(this.#open);
    this.#open = undefined;
  }

  get isBusy(): boolean {
    return this.#turn !== undefined;
  }

  get hasUnconfirmed(): boolean {
    return this.#unconfirmed.size > 0;
  }

  /** Sends all batches, including those added while it runs. Never rejects. */
  send(): Promise<void> {
    if (this.#turn === undefined && (this.#open || this.#closed.length > 0)) this.#turn = this.#sendAll();
    return this.#turn ?? Promise.resolve();
  }

  /** Checks that the server still has the last batches, and sends lost ones again. Never rejects. */
  check(): Promise<void> {
    const { last } = this.#unconfirmed;
    if (this.#turn === undefined && last) this.#turn = this.#recall(last);
    return this.#turn ?? Promise.resolve();
  }

  /** After this call a batch with an unknown outcome is no longer sent again. */
  close(): void {
    this.#isClosed = true;
  }

  lose(): void {
    this.#sending?.release();
    this.#refuseAll(unsent(undefined));
  }

  async #sendAll(): Promise<void> {
    // From now on other requests count in another producer's batch and cells.
    if (endsWithRequest) this.endBatch();
    while (this.#open || this.#closed.length > 0) {
      const refusal = this.#options.agreement.isReached ? undefined : await this.#options.agreement.reach();
      if (refusal !== undefined) this.#refuseAll(refusal);
      const batch = this.#next();
      if (!batch) break;
      this.#sending = batch;
      await this.#count(batch);
      batch.release();
    }
    this.#turn = undefined;
  }

  /** Checks whether the server kept the batch. It only reads: a call that may count the batch again would prove nothing. */
  async #recall({ number }: UnconfirmedBatch): Promise<void> {
    const { store, key, shaped, now } = this.#options;
    try {
      const sentAtMs = now();
      const { position } = await store.run(add, key, { ...LOOK, layout: shaped.layout, mark: this.#mark });
      if (Number(position) >= number) this.#unconfirmed.confirm(Number(position), sentAtMs);
      else await this.#resend(Number(position), { number: number + 1, before: number });
    } catch {
      // The next check or batch asks again.
    }
    await this.#sendAll();
  }

  /** Close the batch before any await: the next batch uses the same cells. */
  #next(): Batch | undefined {
    const closed = this.#closed.shift();
    if (closed) return closed;
    const open = this.#open;
    this.#open = undefined;
    return open;
  }

  #refuseAll(error: unknown): void {
    for (let waiting = this.#next(); waiting; waiting = this.#next()) {
      waiting.reject(error);
      waiting.release();
    }
  }

  async #count(batch: Batch): Promise<void> {
    const rows = batch.close();
    const { total } = batch;
    if (this.#mark === "" || (this.#isLongAgo() && !this.hasUnconfirmed)) this.#rename();
    const mark = this.#mark;
    const number = ++this.#used;
    for (let isInDoubt = false; ; ) {
      try {
        // Another copy may have reached a store that was since lost, and from there the table.
        const where = isInDoubt ? this.#where : undefined;
        await this.#give({ number, before: this.#number, total, rows, where });
        batch.resolve();
        return this.#options.onCounted?.(rows);
      } catch (error) {
        const isUnknown = error instanceof OrielError && error.applied === "unknown" && error.code !== "CORRUPT";
        if (error instanceof OrielError && error.code === "MISMATCH") this.#options.agreement.isReached = false;
        batch.reject(error);
        this.#refuseAll(unsent(error));
        isInDoubt ||= isUnknown;
        if (!isInDoubt || this.#isClosed || this.#mark !== mark) return;
        await this.#options.pause(PAUSE_MS);
      }
    }
  }

  /** Sends a batch, and before it everything that the server lost. `from`: the mark's last known value. */
  async #give(batch: UnconfirmedBatch, from = batch.before): Promise<void> {
    const { store, key, shaped, replicas, now } = this.#options;
    const { number, total, rows } = batch;
    for (let before = from; ; ) {
      // Any other value is compared with the mark. A missing mark may also be one that was deleted.
      if (before === 0 && this.#isLongAgo()) this.#giveUp();
      const marks = { mark: this.#mark, before: positionOf(before), after: `${number}` };
      const addition = { layout: shaped.layout, ...marks, total, rows, again: batch.where ?? "" };
      const sentAtMs = now();
      const added = await store.run(add, key, addition, replicas > 0 ? { replicas } : undefined);
      const { isCounted, position } = added;
      const reached = Number(position);
      if (isCounted || number > this.#number) this.#heardAt = this.#clocks();
      if (isCounted || reached >= number) {
        this.#number = Math.max(this.#number, number);
        // If an earlier copy of the request counted the batch, its generation is unknown. It is at the earliest that of the batch before.
        if (isCounted) this.#where = `${added.born}.${added.generation}`;
        // A batch that is sent again keeps its first position: after a second loss the table may have it from there.
        this.#unconfirmed.keep({ ...batch, where: batch.where ?? this.#where }, sentAtMs, now());
        return;
      }
      before = await this.#resend(reached, batch);
    }
  }

  /** Sends lost batches again. Returns the mark's new value: the last kept batch before this one. */
  async #resend(reached: number, batch: Pick<UnconfirmedBatch, "number" | "before">): Promise<number> {
    const { held, isWhole } = this.#unconfirmed.after(reached, batch);
    if (!isWhole && reached === 0) this.#giveUp();
    if (!isWhole) this.#options.onLost({ total: Number.NaN });
    let before = reached;
    for (const one of held) {
      await this.#give(one, before).catch((error) => Promise.reject(inDoubt(error)));
      before = one.number;
    }
    return before;
  }

  /** The server has no mark of this producer any more. The counts may be gone with it. */
  #giveUp(): never {
    if (this.#number > 0) this.#options.onLost({ total: Number.NaN });
    this.#rename();
    throw new OrielError("LOST", "the store no longer has the mark of this producer, which was silent for too long", {
      transient: true,
    });
  }

  /** Two clocks: the monotonic one may stop during sleep, and the wall clock may be set. */
  #clocks(): [monotonicMs: number, wallMs: number] {
    return [this.#options.now(), Date.now()];
  }

  #isLongAgo(): boolean {
    const [monotonicMs, wallMs] = this.#clocks();
    return Math.max(monotonicMs - this.#heardAt[0], wallMs - this.#heardAt[1]) > failoverTimes.longestSilenceMs;
  }

  #rename(): void {
    this.#mark = newMark();
    this.#number = 0;
    this.#used = 0;
    this.#heardAt = this.#clocks();
    this.#unconfirmed.clear();
  }
}

/** The error of a batch that was not sent because an earlier one failed. */
function unsent(cause: unknown): OrielError {
  return new OrielError("UNAVAILABLE", "these counts were not sent, because the counts before them failed", {
    cause,
    transient: true,
  });
}

/** The batch was sent once already, too early. A late copy of it may still be counted, so its outcome is unknown. */
function inDoubt(error: unknown): unknown {
  if (!(error instanceof OrielError) || error.code === "LOST" || error.applied === "unknown") return error;
  return new OrielError(error.code, error.message, { cause: error, transient: error.transient, applied: "unknown" });
}

/**
 * A new mark: a field of a shard that belongs to one producer. Its value is the number of the producer's last batch.
 */
function newMark(): string {
  return `w:${hexOf(crypto.getRandomValues(new Uint8Array(8)))}`;
}

/** The value of a mark after the batch of this number. Before the first batch the field does not exist. */
function positionOf(number: number): string {
  return number === 0 ? "" : `${number}`;
}

/** Arguments of `add` that only read. No mark has this value, so the step counts nothing and returns the value. */
const LOOK = { before: "?", after: "?", total: 0, rows: packStrings([]) };
