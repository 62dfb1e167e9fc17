/** What an event is answered with. A rival that can only count leaves the rest out. */
export interface Answer {
  count: number;
  sum?: number;
  p99?: number;
}

/** One rival's window: one key (or one series) that holds the preloaded events and whatever is added. */
export interface RivalWindow {
  /**
   * Records one event and answers for the window that ends with it. Undefined: the rival's lock was not acquired
   * (its time was over, or `signal` was aborted while waiting) and nothing was recorded.
   */
  add(value: number, signal: AbortSignal): Promise<Answer | undefined>;
  /** Bytes that the window holds in Redis (MEMORY USAGE of its keys). */
  redisBytes(): Promise<number>;
  /** What a reader of the row must know, if anything. */
  note(): string;
  /** Deletes its keys and closes its connection. */
  close(): Promise<void>;
}

/** A way to keep an exact sliding window shared by many processes through Redis. */
export interface Rival {
  readonly name: string;
  /** Why it cannot run on this machine, or undefined when it can. */
  missing(): string | undefined;
  /** Opens a window under a name of its own; `preload` values are inside it from the start and stay inside. */
  open(redisUrl: string, name: string, windowMs: number, preload: Float32Array): Promise<RivalWindow>;
}

/** Times of preloaded events: spread evenly over the newer half of the window that ends now, in whole ms. */
export function preloadTimes(count: number, windowMs: number): number[] {
  const firstMs = Date.now() - windowMs / 2;
  return Array.from({ length: count }, (_, i) => Math.floor(firstMs + (i * windowMs) / 2 / count));
}
