import type { OrielError } from "../../../src/base/errors.ts";
import { Lock } from "../../../src/holds/lock/lock.ts";
import { lockKeyOf, readWriteKeyOf } from "../../../src/holds/lock/lock-state.ts";
import type { TryLockOptions } from "../../../src/holds/lock-options.ts";
import { semaphoreKeyOf } from "../../../src/holds/semaphore/permit-calls.ts";
import type { Random } from "../world/random.ts";
import { acquireOnce } from "./acquires.ts";
import type { Claim } from "./books.ts";
import type { Kind } from "./plan.ts";
import type { Actor, Stage, Waiter } from "./stage.ts";
import { inProcess } from "./timers.ts";

/** A writer takes all permits of a read-write lock, a reader one. */
const ALL = 2 ** 32 - 1;
/** A request that is under way at the end of a wait is awaited for so long. */
const DEADLINE_MS = 3000;
const ROUND_TRIPS_MS = 200;

/** A hold of any kind. */
interface Held {
  readonly leftMs: number;
  readonly signal: AbortSignal;
  assertHeld(): void;
  extend(lease?: number): Promise<boolean>;
  release(): Promise<boolean>;
}

/** One call that asks for a hold of any kind. */
export interface Wanted {
  readonly what: string;
  readonly parts: readonly { key: string; permits: number; limit: number }[];
  tryLock(options: TryLockOptions): Promise<Held | null>;
  withLock<T>(fn: (held: Held) => Promise<T>, options: TryLockOptions): Promise<T>;
  fencesOf(held: Held): readonly (number | null)[];
}

/** What may be asked for, of the kinds of the plan. */
function wantedOf({ structures, store }: Actor, kind: Kind, random: Random): Wanted {
  const fencesOf = (held: unknown) => [(held as { fence: number | null }).fence];
  if (kind === "lock") {
    const lock = random.chance(0.8) ? structures.locks[0]! : random.pick(structures.locks);
    return {
      what: `the lock ${lock.name}`,
      parts: [{ key: lockKeyOf(store, lock.name), permits: 1, limit: 1 }],
      tryLock: (options) => lock.tryLock(options),
      withLock: (fn, options) => lock.withLock(fn, options),
      fencesOf,
    };
  }
  if (kind === "locks") {
    const locks = structures.locks.filter(() => random.chance(0.6));
    const some = locks.length > 0 ? locks : [...structures.locks];
    if (random.chance(0.5)) some.reverse();
    const set = Lock.all(some, { watchdogLease: 900 });
    return {
      what: `the locks ${set.names}`,
      parts: some.map(({ name }) => ({ key: lockKeyOf(store, name), permits: 1, limit: 1 })),
      tryLock: (options) => set.tryLock(options),
      withLock: (fn, options) => set.withLock(fn, options),
      fencesOf: (held) => (held as unknown as { fences: number[] }).fences,
    };
  }
  if (kind === "read-write lock") {
    const isWriter = random.chance(0.4);
    const side = isWriter ? structures.readWrite.write : structures.readWrite.read;
    return {
      what: isWriter ? "a writer" : "a reader",
      parts: [{ key: readWriteKeyOf(store, "w"), permits: isWriter ? ALL : 1, limit: ALL }],
      tryLock: (options) => side.tryLock(options),
      withLock: (fn, options) => side.withLock(fn, options),
      fencesOf,
    };
  }
  const { single, multi } = structures;
  const permits = random.chance(0.5) ? 1 : random.int(1, multi.limit);
  const isSingle = permits === 1 && random.chance(0.5);
  return {
    what: `${permits} of ${multi.limit} permits`,
    parts: [{ key: semaphoreKeyOf(store, "s"), permits, limit: multi.limit }],
    tryLock({ wait, ...options }) {
      if (wait === 0) return isSingle ? single.tryAcquire(options) : multi.tryAcquire(permits, options);
      const got = isSingle ? single.acquire({ wait, ...options }) : multi.acquire(permits, { wait, ...options });
      return got.catch((error: OrielError) => {
        if (isNotFree(error)) return null;
        throw error;
      });
    },
    withLock: (fn, options) => (isSingle ? single.withPermit(fn, options) : multi.withPermits(permits, fn, options)),
    fencesOf,
  };
}

/** It says that others held it for all of the wait, and that nothing was done. */
function isNotFree({ code, transient, applied, message }: OrielError): boolean {
  return code === "DEADLINE" && transient && applied === "no" && /free within/.test(message);
}

/** A timer may be early by the error of a clock. */
const EARLY_MS = 5;

/** A caller of `acquire` looks whether others wait, and asks, before it has a place. Afterwards it passes its turn on. */
const ARRIVAL_MS = 40;

/** A call from its start to its end. */
export class Call implements Waiter {
  readonly actor: Actor;
  readonly key: string | undefined;
  readonly waitMs: number;
  readonly permits: number;
  readonly startedMs: number;
  /** False when it has its hold, or is refused. */
  isWaiting = true;
  /** Its callback has been called so often. */
  entered = 0;
  /** It is of a lock, which has one holder. */
  readonly #isAlone: boolean;
  /** Of `acquire`: how many requests it may send, one after the other. */
  readonly #requests: number | undefined;
  readonly #pausedMs: number;
  readonly #stage: Stage;
  readonly #wanted: Pick<Wanted, "what" | "parts">;

  constructor(stage: Stage, actor: Actor, wanted: Pick<Wanted, "what" | "parts">, waitMs: number, requests?: number) {
    const { parts } = wanted;
    this.actor = actor;
    this.key = parts.length === 1 ? parts[0]!.key : undefined;
    this.#isAlone = parts[0]!.limit === 1;
    this.permits = parts[0]!.permits;
    this.#requests = requests;
    this.waitMs = waitMs;
    this.#stage = stage;
    this.#wanted = wanted;
    this.startedMs = stage.world.nowMs;
    this.#pausedMs = actor.process.pausedMs;
    stage.calls.add(this);
  }

  violation(text: string): void {
    this.#stage.world.violation(`${this.actor.process.name}, ${this.#wanted.what}: ${text}`);
  }

  /** It has its hold, or is refused. */
  decided(isGot: boolean): void {
    const { world, plan, calls, books } = this.#stage;
    const { length } = this.#wanted.parts;
    this.isWaiting = false;
    if (isGot) this.#stage.holds++;
    else this.#stage.refused++;
    const tookMs = world.nowMs - this.startedMs;
    const runMs = tookMs - (this.actor.process.pausedMs - this.#pausedMs);
    // A set asks for each lock, extends all, and releases all, some of them twice.
    const requests = this.#requests ?? (length > 1 ? 4 + length : 1);
    const mostMs = this.waitMs + requests * ((plan.isCalm ? 0 : DEADLINE_MS) + ROUND_TRIPS_MS);
    if (runMs > mostMs) this.violation(`a wait of ${this.waitMs} ms took ${runMs} ms`);
    if (!isGot && tookMs < this.waitMs - EARLY_MS) this.violation(`after ${tookMs} of ${this.waitMs} ms it is refused`);
    if (!isGot || !plan.isCalm || this.key === undefined || !this.#isAlone) return;
    const inTurn = this.#requests !== undefined;
    // A call that does not wait sends a request of its own, which may come before those of earlier callers.
    if (this.waitMs === 0 && !inTurn) return;
    // A caller that has lost its place to a missed trial may come after a later one, which has asked before the message came.
    const { missedMs } = books.laws.bookOf(this.key);
    const arrivalMs = inTurn ? ARRIVAL_MS : 1;
    for (const other of calls) {
      if (other === this) return; // those that follow came later
      if (other.startedMs <= missedMs || other.key !== this.key) continue;
      // The order of locks over processes is that in which their requests came to the server. `StepLaws` judges it. Those
      // of a crowd that have no place yet come later.
      if (other.actor !== this.actor && (!inTurn || plan.crowd > 0)) continue;
      if (inTurn && other.startedMs > this.startedMs - ARRIVAL_MS) return;
      const hasTime = other.startedMs + other.waitMs > world.nowMs + arrivalMs + EARLY_MS;
      const check = () => {
        if (other.isWaiting && other.actor.process.state === "running")
          this.violation(`it is served before a caller of ${other.actor.process.name}, from ${other.startedMs}`);
      };
      // One answer may serve both.
      if (other.isWaiting && hasTime) world.after(arrivalMs, check, this.actor.process);
    }
  }

  /** It rejects. An error is one that the documentation names. */
  rejected(error: OrielError & { result?: unknown }, isWith: boolean): void {
    const { code, transient, applied, result } = error;
    this.isWaiting = false;
    if (error.message === "enough") return;
    if (this.entered > 0) {
      if (code !== "LOST" || applied !== "unknown" || result !== "done")
        this.violation(`its function was called, and it rejects with ${error}`);
    } else if (error.name !== "OrielError" || !transient || (this.#stage.plan.isCalm && !isNotFree(error)))
      this.violation(`it rejects with ${error.stack}`);
    else if (code === "DEADLINE" && applied === "no" && this.#requests === undefined) {
      if (!isWith || !isNotFree(error)) this.violation(`it rejects with ${error}`);
      this.decided(false);
    }
  }

  ended(): void {
    this.isWaiting = false;
    this.#stage.calls.delete(this);
  }
}

/** A caller of a process: it asks, works and asks again. */
export async function useHolds(stage: Stage, actor: Actor): Promise<void> {
  const { world, plan } = stage;
  const random = actor.random.fork();
  while (!stage.isOver) {
    await world.sleep(random.int(0, 2 * plan.paceMs), actor.process);
    if (stage.isOver) return;
    const kind = random.pick(plan.kinds);
    if (isAcquire(kind)) await acquireOnce(stage, actor, kind === "acquire at a rate", random);
    else await useOnce(stage, actor, wantedOf(actor, kind, random), random);
  }
}

/** One call in good weather. Returns whether it has got what it wanted. */
export async function useSoon(stage: Stage, actor: Actor, wait: number): Promise<boolean> {
  const { world, plan } = stage;
  const kind = actor.random.pick(plan.kinds);
  if (isAcquire(kind)) return acquireOnce(stage, actor, kind === "acquire at a rate", actor.random, { wait });
  const wanted = wantedOf(actor, kind, actor.random);
  const held = await wanted.tryLock({ wait, lease: 1000 }).catch((error) => {
    world.violation(`in good weather ${wanted.what} rejects with ${error}`);
    return null;
  });
  if (!held) return false;
  await world.sleep(5, actor.process);
  if (held.leftMs === 0) world.violation(`in good weather ${wanted.what} is lost`);
  if (!(await held.release().catch(() => false))) world.violation(`${wanted.what} cannot be released`);
  return true;
}

function isAcquire(kind: Kind): boolean {
  return kind === "acquire" || kind === "acquire at a rate";
}

async function useOnce(stage: Stage, actor: Actor, wanted: Wanted, random: Random): Promise<void> {
  const { world, plan } = stage;
  const { process } = actor;
  const wait = random.pick([0, 50, 400, 3000, 20_000]);
  const isWith = random.chance(0.4);
  const call = new Call(stage, actor, wanted, wait);
  const abort = random.chance(0.1) ? new AbortController() : undefined;
  const stop = () => inProcess(process, () => abort?.abort(new RangeError("enough")));
  if (abort) world.after(random.int(0, 600), stop, process);
  const lease = random.pick([undefined, undefined, 40, 200, 1000]);
  const options = { wait, lease, signal: abort?.signal };
  const workMs = random.pick([0, 5, random.int(0, plan.longestWorkMs)]);
  try {
    if (isWith) {
      const result = await wanted.withLock(async (held) => {
        call.decided(true);
        call.entered++;
        await work(stage, actor, wanted, call, held, workMs, random);
        return "done";
      }, options);
      if (result !== "done" || call.entered !== 1)
        call.violation(`it resolved with ${result}, and was called ${call.entered} times`);
      return;
    }
    const held = await wanted.tryLock(options);
    call.decided(held !== null);
    if (!held) return;
    await work(stage, actor, wanted, call, held, workMs, random);
    const wasProven = held.leftMs > 0;
    const isReleased = await held.release();
    if (isReleased && !wasProven) call.violation("the release of a hold that was not proven resolved with true");
    if (held.leftMs !== 0) call.violation("it is released, and still held");
  } catch (error) {
    call.rejected(error as OrielError, isWith);
  } finally {
    call.ended();
  }
}

async function work(
  stage: Stage,
  actor: Actor,
  wanted: Wanted,
  call: Call,
  held: Held,
  workMs: number,
  random: Random,
): Promise<void> {
  const { world, books } = stage;
  const { process } = actor;
  if (held.leftMs <= 0) call.violation("a hold was returned after its lease");
  const fences = wanted.fencesOf(held);
  const claims = wanted.parts.map(
    ({ key, permits, limit }, i): Claim => ({
      actor,
      key,
      permits,
      limit,
      fence: fences[i]!,
      held,
      askedMs: call.startedMs,
      isWanted: true,
    }),
  );
  for (const claim of claims) books.claim(claim);
  let heardMs = Number.NaN;
  held.signal.addEventListener("abort", () => {
    heardMs = world.nowMs;
  });
  const endMs = world.nowMs + workMs;
  while (world.nowMs < endMs && held.leftMs > 0) {
    await world.sleep(Math.min(20, endMs - world.nowMs), process);
    books.checkClaims();
    if (random.chance(0.1)) {
      const isLonger = await held.extend(random.pick([40, 500])).catch((error) => judgeExtension(error, call));
      if (isLonger === true && held.leftMs === 0) call.violation("it was extended, and is not held");
    }
  }
  const isLost = held.leftMs === 0;
  if (isLost) stage.lost++;
  if (held.signal.aborted !== isLost)
    call.violation(`leftMs is ${held.leftMs}, and its signal is ${held.signal.aborted ? "" : "not "}aborted`);
  const reason = held.signal.reason as OrielError | undefined;
  if (isLost && (reason?.code !== "LOST" || Number.isNaN(heardMs))) call.violation(`it was lost, and says ${reason}`);
  let asserted: unknown;
  try {
    held.assertHeld();
  } catch (error) {
    asserted = (error as OrielError).code;
  }
  if (asserted !== (isLost ? "LOST" : undefined)) call.violation(`assertHeld says ${asserted}`);
  for (const claim of claims) {
    claim.isWanted = false;
    books.claims.delete(claim);
  }
}

function judgeExtension(error: OrielError, call: Call): void {
  if (error.name !== "OrielError" || !error.transient) call.violation(`an extension rejects with ${error.stack}`);
}
