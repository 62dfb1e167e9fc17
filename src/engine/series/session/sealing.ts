import { idleTimeout } from "../../../base/async/timers.ts";
import { OrielError } from "../../../base/errors.ts";
import { warn } from "../../../base/warn.ts";
import type { Store } from "../../../store/contract.ts";
import { constants } from "../../journal/format/constants.ts";
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
 * Seals closed chunks in the background, oldest first. Every process that records or reads does so. Those that saw a chunk closed
 * wait for a random time, so one of them seals it, and the others find that it is sealed. A failure changes nothing: the chunk
 * stays as it is.
 */
export class Sealing {
  readonly #key: string;
  readonly #sealer: ChunkSealer;
  readonly #entropy: () => number;
  #timer: ReturnType<typeof idleTimeout> | undefined;
  #newest = -1;
  /** The first chunk that was not tried yet; undefined before the first look back. */
  #next: number | undefined;
  #running: Promise<void> | undefined;
  #isClosed = false;

  constructor(store: Store, key: string, entropy: () => number) {
    this.#key = key;
    this.#sealer = new ChunkSealer(store, key, () => ({ codec: wasmBlocks() ?? jsCodec, kernel: activeKernel() }));
    this.#entropy = entropy;
  }

  /** Called when the chunk of this number is closed. */
  closed(number: number): void {
    if (number === this.#newest) return;
    // A number that is smaller or far ahead is of another journal, or of a past that a failover took back.
    if (number < this.#newest || number > this.#newest + MAX_WAITING) this.#next = undefined;
    this.#newest = number;
    this.#wait();
  }

  /** Waits for a chunk that is being sealed, and begins no other one. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #wait(): void {
    if (this.#isClosed || this.#timer !== undefined) return;
    const afterMs = constants.sealAfterMs + (this.#entropy() / 2 ** 32) * constants.sealSpreadMs;
    this.#timer = idleTimeout(() => {
      this.#running = this.#sealAll(this.#newest).finally(() => {
        this.#running = undefined;
        this.#timer = undefined;
        if (this.#next === undefined || this.#next <= this.#newest) this.#wait();
      });
    }, afterMs);
  }

  async #sealAll(newest: number): Promise<void> {
    try {
      this.#next ??= await this.#sealer.firstRaw(newest, MAX_LOOKBACK);
      while (this.#next <= newest && !this.#isClosed) {
        this.#next = Math.max(this.#next, this.#newest - MAX_WAITING);
        // The more chunks wait, the more is done in each turn.
        this.#sealer.slicesPerTurn = Math.min(MAX_SLICES_PER_TURN, 1 + this.#newest - this.#next);
        await this.#sealer.seal(this.#next);
        this.#next++;
      }
    } catch (error) {
      // Readers report a store that fails, and damaged chunks.
      if (error instanceof OrielError && error.transient) return;
      if (!(error instanceof OrielError)) warn(`a chunk of ${this.#key} is not sealed: ${(error as Error).message}`);
      this.#next = (this.#next ?? newest) + 1;
    }
  }
}
