import { Aborts } from "../async/aborts.ts";
import { type Deferred, deferred } from "../async/deferred.ts";
import { idleTimeout, timerMs } from "../async/timers.ts";
import type { HoldRequest } from "../hold/lock-calls.ts";
import type { Member } from "./member.ts";
import type { Attempt, MemberHold } from "./member-hold.ts";

/** Callers that ask several servers at once may all get a minority. Pauses of different lengths let one of them win. */
const SPLIT_MS = 50;
/** A release by another process wakes every process. After a refusal each tries again no sooner than this. */
const MIN_PAUSE_MS = 5;
/** How long the subscription stays when no caller waits any more. */
const LINGER_MS = 5000;

const aborts = new Aborts();

/** A caller that waits. */
interface Caller {
  /** True from the notice that lets it try until its attempt is answered. */
  isTrying: boolean;
  refusedAtMs: number;
  /** The pause before its next attempt, by the notices that it has not read yet. */
  noticedMs: number | undefined;
  notice: Deferred<void>;
}

/**
 * The callers of this process that wait for one lock or semaphore of several servers, in order of arrival. Processes have no
 * order among them. If callers may want different numbers of permits, or there is one holder at a time, only the first caller tries, until it is
 * served or gives up. Callers that all want one permit may try together.
 *
 *   a caller arrives, and nobody waits   │ it tries
 *   refused                              │ it waits. The first that waits tries again after a pause
 *   acquired                             │ the next one tries too, if there may be more permits
 *   released by this process             │ the first that waits tries at once
 *   released by another process          │ the same, but not within 5 ms of its last refusal
 */
export class Turns {
  readonly #members: readonly Member[];
  readonly #isExclusive: boolean;
  readonly #isOneByOne: boolean;
  readonly #callers = new Set<Caller>();
  /** Releases of this process and of others, as far as they are known. */
  #ownReleases = 0;
  #otherReleases = 0;
  #unsubscribe: (() => void) | undefined;
  #lingerTimer: ReturnType<typeof setTimeout> | undefined;

  /** `isExclusive`: there is one holder at a time. `isOneByOne`: callers may want different numbers of permits. */
  constructor(members: readonly Member[], isExclusive: boolean, isOneByOne = isExclusive) {
    this.#members = members;
    this.#isExclusive = isExclusive;
    this.#isOneByOne = isExclusive || isOneByOne;
  }

  /**
   * Attempts until one succeeds. Resolves with null at the end of the wait. Rejects with the signal's reason, at once if the
   * store refuses for good, or with the last temporary failure at the end of the wait.
   */
  async hold({ waitMs, signal }: HoldRequest, attempt: () => Promise<Attempt>): Promise<MemberHold | null> {
    if (waitMs === 0) return this.#isInOrder ? null : holdIn(await settled(attempt, signal), true);
    const caller: Caller = {
      isTrying: false,
      refusedAtMs: Number.NEGATIVE_INFINITY,
      noticedMs: undefined,
      notice: deferred(),
    };
    const call = { reject: () => caller.notice.resolve() };
    if (signal) aborts.add(signal, call);
    const isFree = this.#callers.size === 0 || (!this.#isOneByOne && !this.#next);
    this.#callers.add(caller);
    let hold: MemberHold | null = null;
    try {
      hold = await this.#wait(caller, isFree ? 0 : Number.POSITIVE_INFINITY, this.#now() + waitMs, signal, attempt);
      return hold;
    } finally {
      this.#callers.delete(caller);
      if (signal) aborts.delete(signal, call);
      this.#wake(hold && this.#isExclusive ? this.#pauseMs() : 0);
      if (this.#callers.size === 0) this.#linger();
    }
  }

  /** This process has released a hold. */
  notify(): void {
    this.#ownReleases++;
    this.#wake(0);
  }

  async #wait(
    caller: Caller,
    firstPauseMs: number,
    endMs: number,
    signal: AbortSignal | undefined,
    attempt: () => Promise<Attempt>,
  ): Promise<MemberHold | null> {
    let pauseMs = firstPauseMs;
    for (;;) {
      while (pauseMs > 0) {
        const isFirst = this.#next === caller;
        const leftMs = endMs - this.#now();
        const untilMs = isFirst ? Math.min(pauseMs, leftMs) : leftMs;
        await within(caller.notice.promise, untilMs);
        pauseMs = caller.noticedMs ?? 0;
        caller.noticedMs = undefined;
        caller.notice = deferred();
        signal?.throwIfAborted();
        if (this.#now() >= endMs && !isFirst) return null;
      }
      caller.isTrying = true;
      const [own, others] = [this.#ownReleases, this.#otherReleases];
      const outcome = await settled(attempt, signal);
      caller.isTrying = false;
      const isLast = this.#now() >= endMs;
      const hold = holdIn(outcome, isLast);
      if (hold || isLast) return hold;
      caller.refusedAtMs = this.#now();
      this.#subscribe();
      // A release that came during the attempt may have been too late for it.
      if (own !== this.#ownReleases) pauseMs = 0;
      else pauseMs = others !== this.#otherReleases ? MIN_PAUSE_MS : this.#pauseMs();
    }
  }

  /** Callers wait that want different numbers of permits. A caller that does not wait would overtake them. */
  get #isInOrder(): boolean {
    if (this.#isExclusive || !this.#isOneByOne) return false;
    const [first] = this.#callers;
    return first !== undefined && first.refusedAtMs > Number.NEGATIVE_INFINITY;
  }

  #now(): number {
    return this.#members[0]!.store.monotonic();
  }

  /** The caller that may try next. An attempt under way notices releases itself. */
  get #next(): Caller | undefined {
    for (const caller of this.#callers) {
      if (!caller.isTrying) return caller;
      if (this.#isOneByOne) return undefined;
    }
    return undefined;
  }

  /** Lets the first that waits try after this pause. */
  #wake(pauseMs: number, caller = this.#next): void {
    if (!caller) return;
    caller.isTrying = pauseMs === 0;
    caller.noticedMs = pauseMs; // a second notice may come before the caller has read the first
    caller.notice.resolve();
  }

  #pauseMs(): number {
    return SPLIT_MS * (0.5 + Math.random());
  }

  #onRelease(): void {
    this.#otherReleases++;
    const caller = this.#next;
    if (caller) this.#wake(Math.max(0, caller.refusedAtMs + MIN_PAUSE_MS - this.#now()), caller);
  }

  #subscribe(): void {
    clearTimeout(this.#lingerTimer);
    if (this.#unsubscribe) return;
    const ends = this.#members.flatMap(({ subscribe }) => (subscribe ? [subscribe(() => this.#onRelease())] : []));
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
    return await (signal ? orAborted(outcome, signal) : outcome);
  } catch (error) {
    outcome.then((late) => "hold" in late && late.hold.release()).catch(() => {});
    throw error;
  }
}

function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    const call = { reject };
    aborts.add(signal, call);
    promise.then(resolve, reject).finally(() => aborts.delete(signal, call));
  });
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
