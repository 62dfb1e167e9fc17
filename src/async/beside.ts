import { endsWithRequest } from "./of-request.ts";

/** Who is busy for so long, or while so many others are, is taken to have ended with its request. */
const LONGEST_BUSY_MS = 60_000;
const MOST = 1024;

/** Does one thing at a time; who comes meanwhile waits, or goes to another. */
export interface OneAtATime {
  /** Something that it awaits is under way. */
  readonly isBusy: boolean;
  /** It is forgotten, as it ended with its request, or seems to. */
  lose(): void;
}

interface Used<One> {
  one: One;
  atMs: number;
}

/**
 * Those who do one thing at a time: one for all, where all may wait for it; in Workers another one beside each that is busy.
 * Each is a producer with a name of its own, so that what two of them send is told apart, and counts once.
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

  /** To be used before anything is awaited. */
  get free(): One {
    return endsWithRequest ? this.#free() : this.#first;
  }

  /** No other one is made from now on. */
  close(): readonly One[] {
    this.#isClosed = true;
    return this.all;
  }

  #free(): One {
    const nowMs = performance.now();
    // The one that was used last has what it holds from the newest answer.
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
    return nowMs - atMs > LONGEST_BUSY_MS || this.#used.length > MOST;
  }
}
