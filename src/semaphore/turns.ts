import { abortable } from "../async/aborts.ts";
import { deferred } from "../async/deferred.ts";
import { idleTimeout, timerMs } from "../async/timers.ts";
import type { HoldRequest } from "../lock/lock-calls.ts";
import type { Member } from "./member.ts";
import type { Attempt, MemberHold } from "./member-hold.ts";

/** Without notices a waiter tries this often. */
const POLL_MS = 100;
/** A lost notice costs at most this time. */
const LOST_NOTICE_MS = 1000;
/** Callers that ask several servers at once may all get a minority. Pauses of different lengths let one of them win. */
const SPLIT_MS = 50;
/** How long the subscription stays when no caller waits any more. */
const LINGER_MS = 5000;

/**
 * The callers of this process that wait for one lock or semaphore, in order of arrival. Only the first sends requests. It
 * tries again when a release is announced, when a lease ends, or after a pause. Processes have no order among them.
 */
export class Turns {
  readonly #members: readonly Member[];
  /** Wakes each caller. */
  readonly #callers = new Set<() => void>();
  #unsubscribe: (() => void) | undefined;
  #lingerTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(members: readonly Member[]) {
    this.#members = members;
  }

  /**
   * Attempts until one succeeds. Resolves with null at the end of the wait. Rejects with the signal's reason, at once if the
   * store refuses for good, or with the last temporary failure at the end of the wait.
   */
  async hold({ waitMs, signal }: HoldRequest, attempt: () => Promise<Attempt>): Promise<MemberHold | null> {
    if (waitMs === 0) return holdIn(await settled(attempt, signal), true);
    const { monotonic } = this.#members[0]!.store;
    const endMs = monotonic() + waitMs;
    let notice = deferred();
    const wake = () => notice.resolve();
    this.#callers.add(wake);
    signal?.addEventListener("abort", wake);
    try {
      for (;;) {
        notice = deferred();
        const isFirst = this.#first === wake;
        const outcome: Attempt = isFirst ? await settled(attempt, signal) : { refusals: [] };
        const leftMs = endMs - monotonic();
        const hold = holdIn(outcome, leftMs <= 0);
        if (hold || leftMs <= 0) return hold;
        this.#subscribe();
        await within(notice.promise, isFirst ? Math.min(this.#pauseMs(outcome), leftMs) : leftMs);
        signal?.throwIfAborted();
      }
    } finally {
      const wasFirst = this.#first === wake;
      this.#callers.delete(wake);
      signal?.removeEventListener("abort", wake);
      if (wasFirst) this.notify();
      if (this.#callers.size === 0) this.#linger();
    }
  }

  /** Lets the first caller try at once. */
  notify(): void {
    this.#first?.();
  }

  get #first(): (() => void) | undefined {
    return this.#callers.values().next().value;
  }

  #pauseMs(outcome: Attempt): number {
    const jitter = 0.5 + Math.random();
    if (this.#members.length > 1) return SPLIT_MS * jitter;
    if (!("refusals" in outcome)) return (POLL_MS * jitter) / 2;
    const [refusal = { retryInMs: 1 }] = outcome.refusals;
    return Math.min(refusal.retryInMs, this.#members[0]!.subscribe ? LOST_NOTICE_MS * jitter : POLL_MS);
  }

  #subscribe(): void {
    clearTimeout(this.#lingerTimer);
    if (this.#unsubscribe) return;
    const ends = this.#members.flatMap(({ subscribe }) => (subscribe ? [subscribe(() => this.notify())] : []));
    if (ends.length === 0) return;
    this.#unsubscribe = () => {
      for (const end of ends) end();
    };
  }

  #linger(): void {
    clearTimeout(this.#lingerTimer);
    if (!this.#unsubscribe) return;
    this.#lingerTimer = idleTimeout(() => {
      this.#unsubscribe?.();
      this.#unsubscribe = undefined;
    }, LINGER_MS);
  }
}

/** The attempt's outcome. If the signal aborts before, it rejects, and a hold that arrives later is released. */
async function settled(attempt: () => Promise<Attempt>, signal: AbortSignal | undefined): Promise<Attempt> {
  const outcome = attempt();
  try {
    return await abortable(outcome, signal);
  } catch (error) {
    outcome.then((late) => "hold" in late && late.hold.drop(true)).catch(() => {});
    throw error;
  }
}

/** The hold of an outcome, null after a refusal. Throws an error that another attempt cannot repair, or the last one. */
function holdIn(outcome: Attempt, isLast: boolean): MemberHold | null {
  if ("hold" in outcome) return outcome.hold;
  if ("error" in outcome && (isLast || !outcome.error.transient)) throw outcome.error;
  return null;
}

async function within(notice: Promise<void>, ms: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const ended = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timerMs(ms));
  });
  await Promise.race([notice, ended]);
  clearTimeout(timer);
}
