import { endsWithRequest } from "./of-request.ts";

/** A worker that is busy for longer is assumed to have ended with its request. */
const MAX_BUSY_MS = 60_000;
/** If more workers exist, the busy ones that were used longest ago are assumed to have ended with their requests. */
const MAX_WORKERS = 1024;

/** A worker that does one thing at a time. Other callers wait for it, or use another worker. */
export interface OneAtATime {
  /** True while it awaits something. */
  readonly isBusy: boolean;
  /** Called when the worker is dropped, because it ended with its request or seems to have. */
  lose(): void;
}

interface Used<One> {
  one: One;
  atMs: number;
}

/**
 * Workers that do one thing at a time. Normally all callers share one worker and wait for it. In Cloudflare Workers
 * another worker is made while the others are busy. Each worker is a producer with its own name, so that data of two
 * workers is distinguished and counts once.
 */
export class Beside<One extends OneAtATime> {
  readonly #make: () => One;
  readonly #first: One;
  /** In the order in which they were last used. */
  readonly #used: Used<One>[];
  #isClosed = false;

  constructor(make: () => One) {
    this.#make = make;
    this.#first = make();
    this.#used = [{ one: this.#first, atMs: 0 }];
  }

  get all(): readonly One[] {
    return this.#used.map(({ one }) => one);
  }

  /** A worker that is free now. Use it before you await anything. */
  get free(): One {
    return endsWithRequest ? this.#free() : this.#first;
  }

  /** From now on no further worker is made. Returns all workers. */
  close(): readonly One[] {
    this.#isClosed = true;
    return this.all;
  }

  #free(): One {
    const nowMs = performance.now();
    // The worker that was used last has data of the newest answer.
    const at = this.#used.findLastIndex(({ one }) => !one.isBusy);
    if (at >= 0) this.#used.push(...this.#used.splice(at, 1));
    else if (!this.#isClosed) this.#used.push({ one: this.#make(), atMs: nowMs });
    const last = this.#used.at(-1)!;
    last.atMs = nowMs;
    for (let first = this.#used[0]!; first.one.isBusy && this.#isLost(first, nowMs); first = this.#used[0]!) {
      this.#used.shift();
      first.one.lose();
    }
    return last.one;
  }

  #isLost({ atMs }: Used<One>, nowMs: number): boolean {
    return nowMs - atMs > MAX_BUSY_MS || this.#used.length > MAX_WORKERS;
  }
}
