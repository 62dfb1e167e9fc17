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
    const alarm = alarmIn(timerMs(ms), () => afterReading(() => resolve({ kind: "late" })));
    if (isIdle) unref(alarm.timer);
    promise.then(
      (value) => {
        putAway(alarm);
        resolve({ kind: "done", value });
      },
      (error) => {
        putAway(alarm);
        resolve({ kind: "failed", error });
      },
    );
  });
}

/** A timer that can be set again. */
interface Alarm {
  readonly timer: ReturnType<typeof setTimeout>;
  readonly ms: number;
  /** The function that made it. Fake timers replace it. */
  readonly maker: typeof setTimeout;
  run: (() => void) | undefined;
}

/**
 * Alarms that nobody waits for, one for each delay. Each call of a store needs one, which is put away after a fraction of its
 * delay. To set it again costs Node a tenth of a new one.
 */
const spare = new Map<number, Alarm>();
const MAX_SPARE = 8;

function alarmIn(ms: number, run: () => void): Alarm {
  const known = spare.get(ms);
  spare.delete(ms);
  if (known?.maker === setTimeout) {
    known.run = run;
    known.timer.refresh().ref();
    return known;
  }
  const alarm: Alarm = { timer: setTimeout(() => alarm.run?.(), ms), ms, maker: setTimeout, run };
  return alarm;
}

function putAway(alarm: Alarm): void {
  alarm.run = undefined;
  const { timer, ms, maker } = alarm;
  const canBeSpare = typeof timer === "object" && "refresh" in timer && !endsWithRequest && maker === setTimeout;
  if (!canBeSpare || spare.size === MAX_SPARE || spare.has(ms)) clearTimeout(timer);
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
