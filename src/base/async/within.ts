import { endsWithRequest } from "./of-request.ts";
import { timerMs, unref } from "./timers.ts";

export type Outcome<T> = { kind: "done"; value: T } | { kind: "failed"; error: unknown } | { kind: "late" };

/**
 * Resolves to the outcome of a promise, or to "late" after `ms`. Never rejects; a later rejection is ignored. An idle
 * wait does not keep the process alive. After a process stood still, its timers are due before it has read what came
 * meanwhile: it reads that first.
 */
export function within<T>(promise: Promise<T>, ms: number, isIdle = false): Promise<Outcome<T>> {
  return new Promise((resolve) => {
    const alarm = alarmIn(timerMs(ms));
    alarm.ring = () => afterReading(() => resolve({ kind: "late" }));
    if (isIdle) unref(alarm.timer);
    const end = (outcome: Outcome<T>) => {
      putAway(alarm);
      resolve(outcome);
    };
    promise.then(
      (value) => end({ kind: "done", value }),
      (error) => end({ kind: "failed", error }),
    );
  });
}

/** A timer that can be set again. */
interface Alarm {
  readonly timer: ReturnType<typeof setTimeout>;
  readonly ms: number;
  /** The function that made it. Fake timers replace it. */
  readonly maker: typeof setTimeout;
  ring?: (() => void) | undefined;
}

/**
 * Alarms that nobody waits for, one for each delay. Each call of a store needs one, which is put away after a fraction of its
 * delay. To set it again costs Node a tenth of a new one.
 */
const spare = new Map<number, Alarm>();
const MAX_SPARE = 8;

function alarmIn(ms: number): Alarm {
  const maker = setTimeout;
  const known = spare.get(ms);
  if (known?.maker === maker) {
    spare.delete(ms);
    known.timer.refresh().ref();
    return known;
  }
  const alarm: Alarm = { timer: maker(() => alarm.ring?.(), ms), ms, maker };
  return alarm;
}

function putAway(alarm: Alarm): void {
  const { timer, ms, maker } = alarm;
  alarm.ring = undefined;
  // Workers end timers with their request, and browsers and Deno cannot set them again.
  const canBeSet = typeof timer.refresh === "function" && maker === setTimeout && !endsWithRequest;
  if (!canBeSet || spare.has(ms) || spare.size === MAX_SPARE) clearTimeout(timer);
  else {
    timer.unref();
    spare.set(ms, alarm);
  }
}

/** Longest time that a `close` waits for work that may never end. */
const MAX_END_MS = 10_000;

/** Resolves when `work` has ended, or may have ended with its request. `work` must never reject. */
export async function untilEnded(work: Promise<unknown> | undefined): Promise<void> {
  await (work && endsWithRequest ? within(work, MAX_END_MS) : work);
}

/** Node reads from sockets between its timers and its immediates. Other runtimes have no immediates, or similar ones. */
function afterReading(run: () => void): void {
  const { setImmediate } = globalThis as { setImmediate?: (run: () => void) => unknown };
  if (setImmediate) setImmediate(run);
  else run();
}
