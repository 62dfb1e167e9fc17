import type { OneAtATime } from "../../async/beside.ts";
import { endsWithRequest } from "../../async/of-request.ts";
import { OrielError } from "../../errors.ts";
import type { Store } from "../../store/contract.ts";
import type { Clock } from "../../time.ts";
import type { Agreement } from "../agreement.ts";
import { law } from "../format/law.ts";
import { add } from "../steps/add.ts";
import { Batch } from "./batch.ts";
import type { CellMemory } from "./cell-memory.ts";
import { inDoubt, unsent } from "./fates.ts";
import { Given, type GivenBatch } from "./given.ts";
import { LOOK, newMark, placeOf } from "./mark.ts";
import type { Pending } from "./pending.ts";

const PAUSE_MS = 100;

export interface ProducerOptions {
  store: Store;
  key: string;
  layout: string;
  agreement: Agreement;
  replicas: number;
  now: Clock;
  pause(ms: number): Promise<void>;
  /** Counts that a failover took away, and that could not be given again; NaN: not known how many. */
  onLost: (loss: { total: number }) => void;
  /** Of all producers of the counter. */
  pending: Pending;
  /** Given the rows of each batch that was counted; never throws. */
  onCounted?: ((rows: Uint8Array) => void) | undefined;
}

/**
 * Brings batches to one shard, one at a time, each under the next number of a name of our own: what arrives twice counts
 * once. What is counted meanwhile gathers in the open batch.
 *
 *   answered in time ............... those who wait are told; the batch is kept for a while (given.ts)
 *   fate unknown at the deadline ... they are told so; the batch stays at the head, under its number, until it is answered
 *   not sent, or behind such a one . they are told that nothing was counted; the batch is dropped
 *   the mark stands before it ...... a failover lost a tail: what is kept of it is given again first, in order
 *   the mark is gone for good ...... its place cannot be known (we were away too long): told as lost, and a new name
 */
export class Producer implements OneAtATime {
  readonly #options: ProducerOptions;
  #open: Batch | undefined;
  #closed: Batch[] = [];
  #sending: Batch | undefined;
  #turn: Promise<void> | undefined;
  #isClosed = false;
  /** Drawn with the first count: Workers draw nothing while a module is loaded. */
  #mark = "";
  /** Number of the last batch that was acknowledged. */
  #number = 0;
  /** The last number that any batch had: none is used for another batch, of which a late copy may be under way. */
  #used = 0;
  /** When the mark was taken, or a batch was found to have moved it. */
  #heardAt: [monotonicMs: number, wallMs: number];
  readonly #given = new Given();
  /** Where the last batch was counted that we saw counted, `<born>.<generation>`. */
  #where = ".0";

  constructor(options: ProducerOptions) {
    this.#options = options;
    this.#heardAt = this.#clocks();
  }

  /** The batch that is open, with room for a count and one more row; of cells of this memory. */
  batchFor(count: number, memory: CellMemory): Batch {
    if (this.#open?.hasRoomFor(count, memory)) return this.#open;
    this.endBatch();
    this.#open = new Batch(memory, this.#options.pending);
    return this.#open;
  }

  /** Closes the batch that is open: it holds the memory of its cells no more. */
  endBatch(): void {
    if (!this.#open) return;
    this.#open.close();
    this.#closed.push(this.#open);
    this.#open = undefined;
  }

  get isBusy(): boolean {
    return this.#turn !== undefined;
  }

  /** What is kept in case of a failover. */
  get hasGiven(): boolean {
    return this.#given.size > 0;
  }

  /** Sends what waits, and what comes meanwhile; never rejects. */
  send(): Promise<void> {
    if (this.#turn === undefined && (this.#open || this.#closed.length > 0)) this.#turn = this.#sendAll();
    return this.#turn ?? Promise.resolve();
  }

  /** Asks whether the server still has what was given last, and gives again what it lost; never rejects. */
  check(): Promise<void> {
    const { last } = this.#given;
    if (this.#turn === undefined && last) this.#turn = this.#recall(last);
    return this.#turn ?? Promise.resolve();
  }

  /** From then on a batch whose fate is unknown is given up. */
  close(): void {
    this.#isClosed = true;
  }

  lose(): void {
    this.#sending?.release();
    this.#refuseAll(unsent(undefined));
  }

  async #sendAll(): Promise<void> {
    // From now on others count in another producer's batch, and in its cells.
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

  /** Only looks: a call that may itself count the batch once more does not say that it stood the time. */
  async #recall({ number }: GivenBatch): Promise<void> {
    const { store, key, layout, now } = this.#options;
    try {
      const sentAtMs = now();
      const { place } = await store.run(add, key, { ...LOOK, layout, mark: this.#mark });
      if (Number(place) >= number) this.#given.letGo(Number(place), sentAtMs);
      else await this.#giveAgain(Number(place), { number: number + 1, before: number });
    } catch {
      // Asked again later, or with what is counted next.
    }
    await this.#sendAll();
  }

  /** No await may come before it is closed: its rows are counted in cells that the next one uses, too. */
  #next(): Batch | undefined {
    const closed = this.#closed.shift();
    if (closed) return closed;
    const open = this.#open;
    this.#open = undefined;
    return open;
  }

  /** Those that wait and were not sent. */
  #refuseAll(error: unknown): void {
    for (let waiting = this.#next(); waiting; waiting = this.#next()) {
      waiting.reject(error);
      waiting.release();
    }
  }

  async #count(batch: Batch): Promise<void> {
    const rows = batch.close();
    const { total } = batch;
    if (this.#mark === "" || (this.#isLongAgo() && !this.hasGiven)) this.#rename();
    const mark = this.#mark;
    const number = ++this.#used;
    for (let isInDoubt = false; ; ) {
      try {
        // Another copy may lie in a store that was lost since, and so in the table.
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

  /** Brings a batch, and before it all that the server has forgotten. `from`: where the mark stands, as far as we know. */
  async #give(batch: GivenBatch, from = batch.before): Promise<void> {
    const { store, key, layout, replicas, now } = this.#options;
    const { number, total, rows } = batch;
    for (let before = from; ; ) {
      // Any other place is compared with the mark; no mark may also mean one that was forgotten.
      if (before === 0 && this.#isLongAgo()) this.#giveUp();
      const marks = { mark: this.#mark, before: placeOf(before), after: `${number}` };
      const addition = { layout, ...marks, total, rows, again: batch.where ?? "" };
      const sentAtMs = now();
      const added = await store.run(add, key, addition, replicas > 0 ? { replicas } : undefined);
      const { isCounted, place } = added;
      const reached = Number(place);
      if (isCounted || number > this.#number) this.#heardAt = this.#clocks();
      if (isCounted || reached >= number) {
        this.#number = Math.max(this.#number, number);
        // Counted by an earlier copy of the call, it lies there or in a generation before: the first that it may be.
        if (isCounted) this.#where = `${added.born}.${added.generation}`;
        // Given again, it stays where it was first: after a second loss the table may have it from there.
        this.#given.keep({ ...batch, where: batch.where ?? this.#where }, sentAtMs, now());
        return;
      }
      before = await this.#giveAgain(reached, batch);
    }
  }

  /** Where the mark then stands: at the last batch before this one that is kept. */
  async #giveAgain(reached: number, batch: Pick<GivenBatch, "number" | "before">): Promise<number> {
    const { held, isWhole } = this.#given.after(reached, batch);
    if (!isWhole && reached === 0) this.#giveUp();
    if (!isWhole) this.#options.onLost({ total: Number.NaN });
    let before = reached;
    for (const one of held) {
      await this.#give(one, before).catch((error) => Promise.reject(inDoubt(error)));
      before = one.number;
    }
    return before;
  }

  /** The mark is gone: with what it counted, or without. */
  #giveUp(): never {
    if (this.#number > 0) this.#options.onLost({ total: Number.NaN });
    this.#rename();
    throw new OrielError("LOST", "the store has forgotten this producer, which was away too long", { transient: true });
  }

  /** Both clocks: one does not count sleep, the other may be set. */
  #clocks(): [monotonicMs: number, wallMs: number] {
    return [this.#options.now(), Date.now()];
  }

  #isLongAgo(): boolean {
    const [monotonicMs, wallMs] = this.#clocks();
    return Math.max(monotonicMs - this.#heardAt[0], wallMs - this.#heardAt[1]) > law.longestSilenceMs;
  }

  #rename(): void {
    this.#mark = newMark();
    this.#number = 0;
    this.#used = 0;
    this.#heardAt = this.#clocks();
    this.#given.clear();
  }
}
