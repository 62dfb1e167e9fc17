import { type Outcome, within } from "../../base/async/within.ts";
import type { ScriptClient } from "./client.ts";

/** A call that waits for the first connection beyond its deadline looks this often whether that has failed. */
const LOOK_MS = 20;
/** At most so often: for 2 s, in which the time that a busy process stands still is not counted. */
const MAX_LOOKS = 100;

/**
 * The time of one request. Its deadline begins when the client can send: neither the load of the client nor its first
 * connection is part of it. They have a limit of their own, 2 s beyond the deadline. A first connection that fails, and
 * each later one, is part of the deadline.
 */
export class CallTime {
  readonly deadlineMs: number;
  readonly #client: ScriptClient;
  readonly #beganMs = performance.now();
  #endMs: number;
  #isOpening = false;
  #looks = 0;

  constructor(client: ScriptClient, deadlineMs: number) {
    this.#client = client;
    this.deadlineMs = deadlineMs;
    this.#endMs = this.#beganMs + deadlineMs;
  }

  /** When the deadline began. */
  get beganAtMs(): number {
    return this.#endMs - this.deadlineMs;
  }

  get leftMs(): number {
    return this.#endMs - performance.now();
  }

  /** Undefined if the client can send now. Otherwise pass the promise to `wait`, and ask again. */
  ready(): Promise<void> | undefined {
    const ready = this.#client.whenReady();
    if (ready === undefined) {
      if (this.#isOpening) this.#endMs = performance.now() + this.deadlineMs;
      this.#isOpening = false;
      return undefined;
    }
    ready.catch(() => {});
    this.#isOpening = this.#client.isOpening === true && this.#looks < MAX_LOOKS;
    return ready;
  }

  /** Whether the time is over. While the first connection was being opened, when last asked, it is not. */
  get isOver(): boolean {
    return this.leftMs <= 0 && !this.#isOpening;
  }

  wait(ready: Promise<void>): Promise<Outcome<void>> {
    const { leftMs } = this;
    if (leftMs > 0 || !this.#isOpening) return within(ready, leftMs);
    this.#looks++;
    return within(ready, LOOK_MS);
  }

  /** How long the request was tried, for messages: its deadline, or longer if that has not begun. */
  get triedMs(): number {
    return this.#looks > 0 ? Math.round(performance.now() - this.#beganMs) : this.deadlineMs;
  }
}
