import { idleTimeout } from "../../async/timers.ts";
import { OrielError } from "../../errors.ts";
import { constants } from "../../journal/format/constants.ts";
import { ChunkSealer } from "../../journal/sealed/sealer.ts";
import { activeBlocks } from "../../kernel/blocks/choose.ts";
import { activeKernel } from "../../kernel/choose.ts";
import type { Store } from "../../store/contract.ts";
import { warn } from "../../warn.ts";

/** Chunks before the first one that this process saw closed, which may have been left by another process. */
const MAX_EARLIER = 3;
/** Chunks that wait. Older ones stay as they are. */
const MAX_WAITING = 128;

/**
 * Seals closed chunks in the background, in order. All processes that saw one closed wait for a random time, so one of them seals
 * it, and the others find that it is sealed. A failure changes nothing: the chunk stays as it is.
 */
export class Sealing {
  readonly #key: string;
  readonly #sealer: ChunkSealer;
  readonly #entropy: () => number;
  #timer: ReturnType<typeof idleTimeout> | undefined;
  #newest = -1;
  /** The first chunk that was not tried yet. */
  #next = Number.POSITIVE_INFINITY;
  #running: Promise<void> | undefined;
  #isClosed = false;

  constructor(store: Store, key: string, entropy: () => number) {
    this.#key = key;
    this.#sealer = new ChunkSealer(store, key, () => ({ codec: activeBlocks(), kernel: activeKernel() }));
    this.#entropy = entropy;
  }

  /** Called when the chunk of this number is closed. */
  closed(number: number): void {
    if (number === this.#newest) return;
    // A smaller number is of another journal, or of a past that a failover took back.
    if (number < this.#newest || this.#next === Number.POSITIVE_INFINITY) this.#next = number - MAX_EARLIER;
    this.#newest = number;
    this.#next = Math.max(0, this.#next, number - MAX_WAITING);
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
        if (this.#next <= this.#newest) this.#wait();
      });
    }, afterMs);
  }

  async #sealAll(newest: number): Promise<void> {
    try {
      while (this.#next <= newest && !this.#isClosed) await this.#sealer.seal(this.#next++);
    } catch (error) {
      // Readers report a store that fails, and damaged chunks.
      if (!(error instanceof OrielError)) warn(`a chunk of ${this.#key} is not sealed: ${(error as Error).message}`);
    }
  }
}
