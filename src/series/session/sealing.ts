import { idleTimeout } from "../../async/timers.ts";
import { OrielError } from "../../errors.ts";
import { constants } from "../../journal/format/constants.ts";
import { ChunkSealer } from "../../journal/sealed/sealer.ts";
import { activeBlocks } from "../../kernel/blocks/choose.ts";
import { activeKernel } from "../../kernel/choose.ts";
import type { Store } from "../../store/contract.ts";
import { warn } from "../../warn.ts";

/** Chunks before the closed one that are sealed too, if the process that closed them did not. */
const MAX_EARLIER = 3;

/**
 * Seals the chunks that this process closed, in the background. All processes that closed one wait for a random time, so one of
 * them seals it, and the others find that it is sealed. A failure changes nothing: the chunk stays as it is until the next one.
 */
export class Sealing {
  readonly #key: string;
  readonly #sealer: ChunkSealer;
  readonly #entropy: () => number;
  #timer: ReturnType<typeof idleTimeout> | undefined;
  #newest = 0;
  #sealedUpTo = -1;
  #running: Promise<void> | undefined;
  #isClosed = false;

  constructor(store: Store, key: string, entropy: () => number) {
    this.#key = key;
    this.#sealer = new ChunkSealer(store, key, () => ({ codec: activeBlocks(), kernel: activeKernel() }));
    this.#entropy = entropy;
  }

  /** Called after the chunk of this number was closed. */
  closed(number: number): void {
    this.#newest = number;
    if (this.#isClosed || this.#timer !== undefined) return;
    const afterMs = constants.sealAfterMs + (this.#entropy() / 2 ** 32) * constants.sealSpreadMs;
    this.#timer = idleTimeout(() => {
      this.#running = this.#sealAll().finally(() => {
        this.#running = undefined;
        this.#timer = undefined;
      });
    }, afterMs);
  }

  /** Waits for a chunk that is being sealed, and begins no other one. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  async #sealAll(): Promise<void> {
    const newest = this.#newest;
    const first = Math.max(0, newest - MAX_EARLIER, Math.min(newest, this.#sealedUpTo + 1));
    try {
      for (let number = first; number <= newest && !this.#isClosed; number++) {
        const outcome = await this.#sealer.seal(number);
        if (outcome === "sealed" || outcome === "already sealed") this.#sealedUpTo = number;
      }
    } catch (error) {
      // Readers report a store that fails, and damaged chunks.
      if (!(error instanceof OrielError)) warn(`a chunk of ${this.#key} is not sealed: ${(error as Error).message}`);
    }
  }
}
