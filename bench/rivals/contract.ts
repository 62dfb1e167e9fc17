/** The answer to an event. A rival that can only count leaves out the rest. */
export interface Answer {
  count: number;
  sum?: number;
  p99?: number;
}

/** One rival's window: one key or series with the preloaded events and all added ones. */
export interface RivalWindow {
  /**
   * Records one event and returns the statistics of the window that ends with it. Returns undefined when the rival's lock was
   * not acquired (time-out or aborted `signal`). Then nothing was recorded.
   */
  add(value: number, signal: AbortSignal): Promise<Answer | undefined>;
  /** Bytes that the window holds in Redis (MEMORY USAGE of its keys). */
  redisBytes(): Promise<number>;
  /** A remark for the reader of the row, or an empty text. */
  note(): string;
  /** Deletes its keys and closes its connection. */
  close(): Promise<void>;
}

/** A way to keep an exact sliding window shared by many processes through Redis. */
export interface Rival {
  readonly name: string;
  /** Why it cannot run on this machine, or undefined when it can. */
  missing(): string | undefined;
  /** Opens a window under its own name. The `preload` values are inside it during the whole run. */
  open(redisUrl: string, name: string, windowMs: number, preload: Float32Array): Promise<RivalWindow>;
}

/** Times of preloaded events in whole ms, spread evenly over the newer half of the window that ends now. */
export function preloadTimes(count: number, windowMs: number): number[] {
  const firstMs = Date.now() - windowMs / 2;
  return Array.from({ length: count }, (_, i) => Math.floor(firstMs + (i * windowMs) / 2 / count));
}
