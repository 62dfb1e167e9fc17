import { idleTimeout } from "../../../base/async/timers.ts";
import { OrielError } from "../../../base/errors.ts";
import { warn } from "../../../base/warn.ts";
import type { Store } from "../../../store/contract.ts";
import type { ChunkSeen } from "../../journal/format/chunk.ts";
import { constants } from "../../journal/format/constants.ts";
import type { JournalReader } from "../../journal/replica/journal-reader.ts";
import { ChunkSealer } from "../../journal/sealed/sealer.ts";
import { wasmBlocks } from "../../kernel/blocks/choose.ts";
import { jsCodec } from "../../kernel/blocks/js/js-codec.ts";
import { activeKernel } from "../../kernel/choose.ts";

/** Closed chunks that this process looks back for when it sees the series first: others may have left them. */
const MAX_LOOKBACK = 64;
/** Closed chunks that wait in one process. Older ones stay as they are. */
const MAX_WAITING = 1024;
const MAX_SLICES_PER_TURN = 16;
/**
 * The share of the random time by which the process that sealed the last chunks is ahead of the others. It is done with a chunk
 * after twice `sealAfterMs`, so the others begin later than that.
 */
const LEAD = 0.6;
/** How often in a row a process waits twice as long as before, after it found that others had sealed all: 18 to 24 s in the end. */
const MAX_DOUBLINGS = 2;

/**
 * Closes a chunk that nobody has appended to for some seconds, and seals closed ones in the background, oldest first. Every process
 * that records or reads does so. Those that saw a chunk closed wait for a random time, so one of them seals it, and the others find
 * that it is sealed. It waits less for the next chunk: it knows the names of the frames before it, which another process would have
 * to read. The others look less and less often, and only at the newest chunk if that is sealed, so a fleet asks little. A failure
 * changes nothing: the chunk stays as it is.
 */
export class Sealing {
  readonly #store: Store;
  readonly #key: string;
  readonly #sealer: ChunkSealer;
  readonly #entropy: () => number;
  readonly #reader: JournalReader;
  readonly #closeChunk: (header: ChunkSeen) => void;
  /** The number of the open chunk at the last answer. */
  openNumber: number | undefined;
  /** When this process saw its last append, by the monotonic clock. */
  appendedMs = 0;
  /** Whether it waits for idleness. */
  isWaiting = false;
  #idleTimer: ReturnType<typeof idleTimeout> | undefined;
  #timer: ReturnType<typeof idleTimeout> | undefined;
  #newest = -1;
  /** The first chunk that was not tried yet; undefined before the first look back. */
  #next: number | undefined;
  /** How often the numbers began anew. */
  #pasts = 0;
  /** The last time, this process sealed more chunks than it found sealed. */
  #isAhead = false;
  /** How often in a row it found all chunks sealed. */
  #idleLooks = 0;
  #running: Promise<void> | undefined;
  #isClosed = false;

  /** `closeChunk` closes the open chunk, unless it is being closed. */
  constructor(
    store: Store,
    key: string,
    entropy: () => number,
    reader: JournalReader,
    closeChunk: (header: ChunkSeen) => void,
  ) {
    this.#store = store;
    this.#key = key;
    this.#reader = reader;
    this.#closeChunk = closeChunk;
    this.#sealer = new ChunkSealer(store, key, () => ({ codec: wasmBlocks() ?? jsCodec, kernel: activeKernel() }));
    this.#entropy = entropy;
  }

  /** Called with the number of the open chunk: the chunk before it is closed. */
  opened(number: number): void {
    this.openNumber = number;
    if (number > 0) this.closed(number - 1);
  }

  /** Called when the chunk of this number is closed. */
  closed(number: number): void {
    if (number === this.#newest) return;
    // A number that is smaller or far ahead is of another journal, or of a past that a failover took back.
    if (number < this.#newest || number > this.#newest + MAX_WAITING) {
      this.#next = undefined;
      this.#idleLooks = 0;
      this.#pasts++;
    }
    this.#newest = number;
    this.#wait();
  }

  /** Waits for a chunk that is being sealed, and begins no other one. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idleTimer);
    clearTimeout(this.#timer);
    await this.#running;
  }

  /** After a pause of this process it looks once whether the others pause too. Then nobody would close the chunk for long. */
  waitForIdleness(ms = constants.idleMs): void {
    this.isWaiting = true;
    this.#idleTimer = idleTimeout(() => {
      this.isWaiting = false;
      const restMs = constants.idleMs - (this.#store.monotonic() - this.appendedMs);
      if (restMs > 0) this.waitForIdleness(restMs);
      else this.#closeIfIdle().catch(() => {}); // the next append closes it
    }, ms);
  }

  async #closeIfIdle(): Promise<void> {
    const { header, length, nowMs } = await this.#reader.open("header");
    const isIdle = header && length >= constants.minIdleBytes && nowMs - header.lastStampMs >= constants.idleMs;
    if (isIdle && !this.#isClosed) this.#closeChunk(header);
  }

  #wait(): void {
    if (this.#isClosed || this.#timer !== undefined) return;
    const share = this.#isAhead ? 0 : LEAD + ((1 - LEAD) * this.#entropy()) / 2 ** 32;
    const afterMs = constants.sealAfterMs + share * constants.sealSpreadMs;
    const moreMs = (2 ** Math.min(this.#idleLooks, MAX_DOUBLINGS) - 1) * afterMs;
    if (moreMs > 0) this.#timer = idleTimeout(() => this.#waitForNewest(afterMs), moreMs);
    else this.#waitForNewest(afterMs);
  }

  /** A chunk that is closed meanwhile has its own wait, or this process would forestall the one that is ahead. */
  #waitForNewest(afterMs: number): void {
    const newest = this.#newest;
    this.#timer = idleTimeout(() => {
      this.#running = this.#sealAll(newest).finally(() => {
        this.#running = undefined;
        this.#timer = undefined;
        if (this.#next === undefined || this.#next <= this.#newest) this.#wait();
      });
    }, afterMs);
  }

  async #sealAll(newest: number): Promise<void> {
    const past = this.#pasts;
    let next = this.#next;
    let lead = 0;
    try {
      if (!this.#isAhead || next === undefined)
        next = await this.#sealer.firstRaw(newest, next === undefined ? MAX_LOOKBACK : 1 + newest - next);
      for (; next <= newest && past === this.#pasts && !this.#isClosed; next++) {
        next = Math.max(next, this.#newest - MAX_WAITING);
        // The more chunks wait, the more is done in each turn.
        this.#sealer.slicesPerTurn = Math.min(MAX_SLICES_PER_TURN, 1 + this.#newest - next);
        const outcome = await this.#sealer.seal(next);
        if (outcome === "sealed") lead++;
        if (outcome === "already sealed") lead--;
      }
      this.#isAhead = lead > 0;
      this.#idleLooks = lead > 0 ? 0 : this.#idleLooks + 1;
    } catch (error) {
      // Readers report a store that fails, and damaged chunks.
      const isTransient = error instanceof OrielError && error.transient;
      if (!(error instanceof OrielError)) warn(`a chunk of ${this.#key} is not sealed: ${(error as Error).message}`);
      if (!isTransient) next = (next ?? newest) + 1;
    }
    if (past === this.#pasts) this.#next = next;
  }
}
