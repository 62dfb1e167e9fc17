import type { Timers } from "../../base/async/timers.ts";
import type { Store } from "../../store/contract.ts";
import { MAX_MESSAGES } from "../format/layout.ts";
import { extend } from "../steps/extend.ts";
import { type HeldMessage, lapseMs, markLost } from "./held-message.ts";

export interface HeldMessagesOptions {
  store: Store;
  keys: readonly string[];
  layout: string;
  visibilityMs: number;
  timers: Timers;
  onError(error: unknown): void;
}

/**
 * The messages that a worker holds. One timer for all of them extends each claim three times before it would lapse. A
 * failed attempt is soon repeated. A handler's signal aborts as soon as another worker may have claimed its message.
 * Without held messages there is no work.
 */
export class HeldMessages<Payload> {
  readonly #options: HeldMessagesOptions;
  readonly #all = new Set<HeldMessage<Payload>>();
  #extendAtMs = Number.POSITIVE_INFINITY;
  #cancelTimer: (() => void) | undefined;

  constructor(options: HeldMessagesOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#all.size;
  }

  [Symbol.iterator](): Iterator<HeldMessage<Payload>> {
    return this.#all.values();
  }

  /** If an earlier delivery of the same message is still held here, it becomes lost. */
  add(held: HeldMessage<Payload>): void {
    if (held.message.hasLapsed)
      for (const each of this.#all) if (each.message.receipt.member === held.message.receipt.member) markLost(each);
    this.#all.add(held);
    if (this.#cancelTimer) return;
    this.#extendAtMs = this.#options.store.leaseClock() + this.#options.visibilityMs / 3;
    this.#sleep();
  }

  delete(held: HeldMessage<Payload>): void {
    this.#all.delete(held);
  }

  /** Whether another worker may have claimed it by now. */
  isLost({ endsAtMs, loss }: HeldMessage<Payload>): boolean {
    return loss !== undefined || endsAtMs <= this.#options.store.leaseClock();
  }

  close(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  readonly #wake = () => {
    this.#cancelTimer = undefined;
    const { store, keys, visibilityMs } = this.#options;
    for (const held of this.#all) if (this.isLost(held)) markLost(held);
    const nowMs = store.leaseClock();
    if (nowMs >= this.#extendAtMs) {
      this.#extendAtMs = nowMs + visibilityMs / 3;
      for (const shard of keys.keys()) this.#extend(shard).catch(this.#options.onError);
    }
    if (this.#all.size > 0) this.#sleep();
  };

  #sleep(): void {
    let atMs = this.#extendAtMs;
    for (const { endsAtMs, loss } of this.#all) if (!loss) atMs = Math.min(atMs, endsAtMs);
    this.#cancelTimer?.();
    this.#cancelTimer = this.#options.timers.after(Math.max(0, atMs - this.#options.store.leaseClock()), this.#wake);
  }

  async #extend(shard: number): Promise<void> {
    const { store, keys, layout, visibilityMs, onError } = this.#options;
    // A loss that was reported to a handler is final.
    const all = [...this.#all].filter((held) => held.shard === shard && !this.isLost(held));
    for (let from = 0; from < all.length; from += MAX_MESSAGES) {
      const some = all.slice(from, from + MAX_MESSAGES);
      const sentAtMs = store.leaseClock();
      const held = some.map(({ message }) => message.receipt);
      try {
        const isOurs = await store.run(extend, keys[shard]!, { layout, held, visibilityMs });
        for (const [i, each] of some.entries())
          if (isOurs[i]) each.endsAtMs = lapseMs(sentAtMs, visibilityMs);
          else if (this.#all.has(each)) markLost(each);
      } catch (error) {
        this.#extendAtMs = Math.min(this.#extendAtMs, store.leaseClock() + visibilityMs / 10);
        if (this.#cancelTimer) this.#sleep();
        onError(error);
      }
    }
  }
}
