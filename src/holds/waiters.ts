import { onAbort } from "../base/async/aborts.ts";
import { type Deferred, deferred } from "../base/async/deferred.ts";
import { endsWithRequest } from "../base/async/of-request.ts";
import { idleTimeout, timerMs } from "../base/async/timers.ts";
import { OrielError } from "../base/errors.ts";
import { randomU32 } from "../base/random.ts";
import { PROCESS_LENGTH, TOKEN_LENGTH, TRIAL_MS } from "../generated/layouts/hold.ts";
import type { RunOptions, Store } from "../store/contract.ts";
import { giveBack } from "./give-backs.ts";
import type { Answer, Ticket } from "./steps/state.ts";
import { leave, take } from "./steps/steps.ts";

/** The request of one caller. */
export interface WaitRequest {
  /** The caller is served when its permits and those in use are at most `limit`. */
  permits: number;
  limit: number;
  leaseMs: number;
  /** 0: one attempt, which takes no place in the queue. */
  waitMs: number;
  signal: AbortSignal | undefined;
  /** The hold is granted when this number of replicas have it. */
  replicas: number;
}

/** A hold that a caller has got. */
export interface Grant {
  readonly store: Store;
  readonly key: string;
  readonly token: string;
  readonly number: number;
  readonly leaseMs: number;
  readonly replicas: number;
  /** This process's clock proves the hold until then. */
  readonly provenUntilMs: number;
  /** Nobody else held the name or waited when it was granted. */
  readonly isAlone: boolean;
}

type LeavingHold = Pick<Grant, "store" | "key" | "token"> & Partial<Pick<Grant, "number" | "isAlone">>;

/** Callers of one process that have a place in the queue. The others get one as these leave. */
const MAX_TICKETS = 64;
/** Without a subscription a waiter asks this often. */
const POLL_MS = 100;
/** The same, until its subscription is known to work. */
const UNSURE_MS = 1000;
/** A timer that is later than this was delayed by work of this process. */
const LATE_MS = 5;
/** A lost message costs a waiter at most this time. */
const LOOK_MS = 16_000;
/** Longest pause after a temporary failure. The shortest is half of it. */
const AFTER_FAILURE_MS = 100;
/** How long the subscription stays when no caller waits any more. */
const LINGER_MS = 5000;
/** Names of one store that a process remembers, unless more are in use. */
const MAX_NAMES = 1000;
/** Of the oldest names, eight are looked at at a time. */
const MAX_LOOKS = 8;

/** The names of each store that this process uses, or used last. */
const ofStores = new WeakMap<Store, Map<string, Waiters>>();

/** Takes a hold. Resolves with null when the wait ends. Rejects with the signal's reason, or if the last request failed. */
export function takeHold(store: Store, key: string, request: WaitRequest): Promise<Grant | null> {
  return waitersOf(store, key).add(request);
}

/** Ends a hold. Resolves with true if it was still there. Callers of this process that are next get theirs by the same request. */
export function leaveHold(hold: LeavingHold): Promise<boolean> {
  return waitersOf(hold.store, hold.key).leave(hold);
}

function waitersOf(store: Store, key: string): Waiters {
  // In Workers requests end with their work, so no caller may wait for the request of another.
  if (endsWithRequest) return new Waiters(store, key);
  let names = ofStores.get(store);
  if (!names) {
    names = new Map();
    ofStores.set(store, names);
  }
  let waiters = names.get(key);
  if (!waiters) {
    forgetIdle(names);
    waiters = new Waiters(store, key);
    names.set(key, waiters);
  }
  return waiters;
}

/** Forgets idle names while there are too many, the oldest first. Those in use become the youngest, and are looked at last. */
function forgetIdle(names: Map<string, Waiters>): void {
  let looks = 0;
  for (const [key, waiters] of names) {
    if (names.size < MAX_NAMES || looks++ === MAX_LOOKS) return;
    names.delete(key);
    if (!waiters.isIdle) names.set(key, waiters);
  }
}

/** One caller, until it has a hold, its wait ends or its signal aborts. */
class Caller {
  readonly outcome: Deferred<Grant | null> = deferred();
  readonly request: WaitRequest;
  readonly endMs: number;
  ticket: Ticket;
  isOpen = true;
  isGranted = false;
  /** A request that has its ticket is under way. */
  isAsking = false;
  /** The server may have its ticket, as a place or as a hold. */
  mayHave = false;
  /** Its wait has ended. A timer may fire before the clock says so. */
  isOver = false;
  error: OrielError | undefined;
  timer: ReturnType<typeof setTimeout> | undefined;
  readonly #onLeft: (caller: Caller) => void;
  readonly #ignoreAbort: (() => void) | undefined;

  constructor(request: WaitRequest, token: string, nowMs: number, onLeft: (caller: Caller) => void) {
    const { permits, limit, leaseMs, waitMs, signal } = request;
    this.request = request;
    this.ticket = { token, permits, limit, leaseMs };
    this.endMs = nowMs + waitMs;
    this.#onLeft = onLeft;
    this.#ignoreAbort = signal && onAbort(signal, () => this.reject(signal.reason));
  }

  /** Called when the signal aborts. A request that is under way ends by itself. */
  reject(reason: unknown): void {
    this.close();
    this.outcome.reject(reason);
    this.#onLeft(this);
  }

  /** The wait is over. The last failure decides. */
  end(): void {
    this.close();
    if (this.error) this.outcome.reject(this.error);
    else this.outcome.resolve(null);
    this.#onLeft(this);
  }

  close(): void {
    this.isOpen = false;
    clearTimeout(this.timer);
    this.#ignoreAbort?.();
  }
}

/**
 * The callers of this process that wait for one name, in order of arrival. One request at a time is sent for all of them.
 *
 *   a caller arrives                       │ ask for it
 *   answered                               │ those that are granted leave; the others have a place in the queue of the name
 *   a hold of this process is released     │ the answer grants the callers that are next
 *   a message says that n are granted      │ ask for the first n, which confirms them
 *   "lost", or the subscription begins     │ ask for all
 *   a hold may have ended                  │ ask for all, at the latest after 16 s
 *   a temporary failure                    │ ask for all in 50 to 100 ms
 *   a caller gives up                      │ give up its place
 *   holds of other processes are on trial  │ look after the trial, in case they have died
 */
class Waiters {
  readonly #store: Store;
  readonly #key: string;
  readonly #process = newProcess();
  /** Those that wait. */
  readonly #callers = new Set<Caller>();
  /** Those that wait, and those with a request under way. */
  readonly #byToken = new Map<string, Caller>();
  #untimed: Caller[] = [];
  #tokens = 0;
  /** The highest number that a caller has got. */
  #last = 0;
  #isAsking = false;
  /** Releases that are under way. Their answers may grant holds to callers. */
  #leaves = 0;
  /** Others held the name when it was last asked for, so the next request does not guess that it is free. */
  #isBusy = false;
  /** True from a failure until it is time to ask again. */
  #isPaused = false;
  /** False until the subscription is known to work: a user may not subscribe. */
  #isSubscribed = false;
  /** Ask for this number of the first callers. */
  #wanted = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #trialTimer: ReturnType<typeof setTimeout> | undefined;
  #lingerTimer: ReturnType<typeof setTimeout> | undefined;
  #unsubscribe: (() => void) | undefined;

  constructor(store: Store, key: string) {
    this.#store = store;
    this.#key = key;
  }

  get isIdle(): boolean {
    return this.#byToken.size === 0 && this.#leaves === 0 && !this.#unsubscribe && !this.#trialTimer;
  }

  add(request: WaitRequest): Promise<Grant | null> {
    const token = tokenOf(this.#process, this.#tokens++);
    const caller = new Caller(request, token, this.#store.monotonic(), (left) => this.#onLeft(left));
    this.#byToken.set(token, caller);
    if (request.waitMs === 0) void this.#tryOnce(caller);
    else {
      this.#callers.add(caller);
      this.#proceed();
      // Most are granted by their first request, and need no timer.
      if (caller.isAsking) this.#untimed.push(caller);
      else this.#startTimer(caller);
    }
    return caller.outcome.promise;
  }

  /** Ends a hold, or gives up a place. */
  async leave({ token, number: its, isAlone }: Omit<LeavingHold, "store" | "key">): Promise<boolean> {
    const sentAtMs = this.#store.leaseClock();
    const number = isAlone && this.#callers.size === 0 ? its : undefined;
    const replicas = mostReplicas(this.#callers);
    const input = { process: this.#process, token, number };
    let answer: Answer;
    this.#leaves++;
    try {
      answer = await this.#store.run(leave, this.#key, input, runOptions(replicas));
    } catch (error) {
      this.#want(Number.POSITIVE_INFINITY); // the step may have run, and granted holds to callers here
      throw error;
    } finally {
      this.#leaves--;
    }
    this.#isBusy = !answer.isAlone || answer.granted.length > 0;
    this.#accept(answer, sentAtMs, replicas);
    this.#proceed();
    return answer.isReleased;
  }

  async #tryOnce(caller: Caller): Promise<void> {
    await this.#ask([caller], false);
    if (caller.isOpen) caller.end();
    this.#proceed();
  }

  #want(callers: number): void {
    this.#wanted += callers;
    this.#isPaused = false;
    this.#proceed();
  }

  /** Sends the request that is due. */
  #proceed(): void {
    if (this.#isAsking) return;
    if (this.#callers.size === 0) {
      this.#becomeIdle();
      return;
    }
    if (this.#isPaused) return;
    const first: Caller[] = [];
    for (const caller of this.#callers) if (first.push(caller) === MAX_TICKETS) break;
    const due = first.filter(({ mayHave }, i) => !mayHave || i < this.#wanted);
    const announced = this.#wanted;
    this.#wanted = 0;
    // Without messages each request asks for all, since newcomers would put off the next one without end.
    if (due[0]) void this.#askFor(this.#isSubscribed ? due : first, announced);
  }

  async #askFor(due: readonly Caller[], announced: number): Promise<void> {
    this.#isAsking = true;
    clearTimeout(this.#timer);
    const pauseMs = await this.#ask(due, true);
    this.#isAsking = false;
    // A later caller may have the earlier place: it asked just after the places were lost, and the others asked again.
    const granted = due.filter((caller) => caller.isGranted).length;
    if (announced < Number.POSITIVE_INFINITY && granted < announced) this.#wanted = Number.POSITIVE_INFINITY;
    if (this.#callers.size > 0) {
      this.#unsubscribe ??= this.#store.subscribe?.(channelOf(this.#key, this.#process), (message) => {
        this.#isSubscribed = true;
        this.#want(Number(message) || Number.POSITIVE_INFINITY);
      });
      for (const caller of this.#untimed) this.#startTimer(caller);
      this.#untimed = [];
      this.#askIn(pauseMs);
    }
    this.#proceed();
  }

  #askIn(pauseMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#want(Number.POSITIVE_INFINITY), timerMs(pauseMs));
  }

  /** Sends one request for these callers, and settles those that it decides. Returns the pause until the next. Never rejects. */
  async #ask(callers: readonly Caller[], mayWait: boolean): Promise<number> {
    const [store, key] = [this.#store, this.#key];
    const tickets = callers.map(({ ticket }) => ticket);
    const sentAtMs = store.leaseClock();
    for (const caller of callers) caller.isAsking = true;
    let failure: OrielError | undefined;
    let pauseMs = AFTER_FAILURE_MS * (0.5 + Math.random() / 2);
    try {
      const isGuess = this.#mayGuess(tickets);
      const replicas = mostReplicas(callers);
      const input = { process: this.#process, tickets, mayWait, isGuess };
      const answer = await store.run(take, key, input, runOptions(replicas));
      for (const caller of callers) caller.mayHave = mayWait || answer.granted.length > 0;
      this.#accept(answer, sentAtMs, replicas);
      this.#isBusy = callers.some((caller) => caller.isOpen);
      pauseMs = this.#pauseAfter(answer);
    } catch (cause) {
      failure = cause instanceof OrielError ? cause : new OrielError("CORRUPT", "hold/take failed", { cause });
      for (const caller of callers) caller.mayHave ||= failure.applied !== "no";
      this.#isPaused = mayWait;
    }
    const isOver = (caller: Caller) => caller.isOver || store.monotonic() >= caller.endMs;
    for (const caller of callers) {
      caller.isAsking = false;
      caller.error = failure;
      if (caller.isGranted) continue;
      if (!caller.isOpen) this.#forget(caller);
      else if (failure?.transient === false || (mayWait && isOver(caller))) caller.end();
    }
    return pauseMs;
  }

  #mayGuess([first, second]: readonly Ticket[]): boolean {
    return first !== undefined && second === undefined && first.permits === first.limit && !this.#isBusy;
  }

  #pauseAfter({ nextMs }: Answer): number {
    const { subscribe } = this.#store;
    const longestMs = (subscribe ? (this.#isSubscribed ? LOOK_MS : UNSURE_MS) : POLL_MS) * (1 - Math.random() / 5);
    return nextMs === 0 ? POLL_MS : Math.min(nextMs, longestMs);
  }

  /** Passes the holds, which this number of replicas have, on to their callers. */
  #accept({ granted, isAlone, begunTrials }: Answer, sentAtMs: number, replicas: number): void {
    if (begunTrials > 0) this.#lookAfterTrials();
    for (const { token, number } of granted) {
      const caller = this.#byToken.get(token);
      // A lower number was reported before, in another answer. A higher one is of a late copy of a request, whose caller has left.
      if (!caller && number > this.#last) giveBack(this.#store, { untilMs: 0, release: () => this.leave({ token }) });
      if (!caller?.isOpen) continue; // one that has left gives it back when its request has ended
      if (caller.request.replicas > replicas) this.#wanted = Number.POSITIVE_INFINITY;
      else this.#grant(caller, number, isAlone && granted.length === 1, sentAtMs);
    }
  }

  #grant(caller: Caller, number: number, isAlone: boolean, sentAtMs: number): void {
    const [store, key, { token }] = [this.#store, this.#key, caller.ticket];
    const { leaseMs, replicas } = caller.request;
    const provenUntilMs = provenUntil(sentAtMs, leaseMs);
    if (store.leaseClock() < provenUntilMs) {
      this.#callers.delete(caller);
      this.#byToken.delete(token);
      this.#last = Math.max(this.#last, number);
      caller.isGranted = true;
      caller.close();
      caller.outcome.resolve({ store, key, token, number, leaseMs, replicas, provenUntilMs, isAlone });
      return;
    }
    // The hold came too late, and is released. The caller goes on with a new token, so that this release cannot end its next hold.
    this.#forget(caller);
    caller.ticket = { ...caller.ticket, token: tokenOf(this.#process, this.#tokens++) };
    this.#byToken.set(caller.ticket.token, caller);
  }

  #onLeft(caller: Caller): void {
    this.#callers.delete(caller);
    if (!caller.isAsking) this.#forget(caller);
    this.#proceed();
  }

  /** Gives up the place or the hold that a caller may have. */
  #forget(caller: Caller): void {
    const { token, leaseMs } = caller.ticket;
    this.#byToken.delete(token);
    if (!caller.mayHave) return;
    caller.mayHave = false;
    giveBack(this.#store, { untilMs: this.#store.leaseClock() + leaseMs, release: () => this.leave({ token }) });
  }

  /** Ends the wait of a caller. A request that is under way is awaited. */
  #startTimer(caller: Caller): void {
    if (!caller.isOpen) return;
    const leftMs = caller.endMs - this.#store.monotonic();
    const end = () => {
      caller.isOver = true;
      if (!caller.isAsking && caller.isOpen) caller.end();
    };
    caller.timer = setTimeout(() => {
      // After a pause of the process, answers that came in time are read before the wait ends.
      if (this.#store.monotonic() > caller.endMs + LATE_MS) caller.timer = setTimeout(end, 0);
      else end();
    }, timerMs(leftMs));
  }

  /** If the processes that have got holds from this one are dead, the next are served. */
  #lookAfterTrials(): void {
    if (endsWithRequest) return;
    this.#trialTimer ??= idleTimeout(() => {
      this.#trialTimer = undefined;
      const sentAtMs = this.#store.leaseClock();
      const request = { process: this.#process, tickets: [], mayWait: false, isGuess: false };
      this.#store.run(take, this.#key, request).then(
        (answer) => {
          this.#accept(answer, sentAtMs, 0);
          // The answer says when the confirmed hold ends. Callers that wait here ask again then.
          if (this.#callers.size > 0 && this.#isSubscribed) this.#askIn(this.#pauseAfter(answer));
        },
        () => {}, // the waiters themselves ask later
      );
    }, TRIAL_MS + 10);
  }

  /** Ends the subscription after a while. */
  #becomeIdle(): void {
    clearTimeout(this.#timer);
    this.#isPaused = false;
    this.#wanted = 0;
    if (this.#byToken.size > 0) return;
    if (!this.#unsubscribe) {
      const names = ofStores.get(this.#store);
      if (names) forgetIdle(names);
      return;
    }
    this.#lingerTimer ??= idleTimeout(() => {
      this.#lingerTimer = undefined;
      if (this.#callers.size > 0) return;
      this.#unsubscribe?.();
      this.#unsubscribe = undefined;
      this.#isSubscribed = false;
      this.#becomeIdle();
    }, LINGER_MS);
  }
}

function mostReplicas(callers: Iterable<Caller>): number {
  let most = 0;
  for (const { request } of callers) most = Math.max(most, request.replicas);
  return most;
}

function runOptions(replicas: number): RunOptions | undefined {
  return replicas > 0 ? { replicas } : undefined;
}

/** The channel of a process, for messages that it has got holds. */
function channelOf(key: string, process: string): string {
  return `${key}:${process}`;
}

function newProcess(): string {
  const part = () =>
    randomU32()
      .toString(36)
      .padStart(PROCESS_LENGTH / 2, "0");
  return part() + part();
}

function tokenOf(process: string, number: number): string {
  const length = TOKEN_LENGTH - PROCESS_LENGTH;
  return process + (number % 36 ** length).toString(36).padStart(length, "0");
}

/** The token of a hold that no caller of this process waits for. */
export function newToken(): string {
  return tokenOf(newProcess(), 0);
}

/** Margins for the drift of two monotonic clocks and for rounding to whole ms. */
const DRIFT = 0.01;
const ROUNDING_MS = 2;

/** A lease begins after its request was sent. Counted from the sending it is never overestimated. */
export function provenUntil(sentAtMs: number, leaseMs: number): number {
  return sentAtMs + leaseMs * (1 - DRIFT) - ROUNDING_MS;
}
