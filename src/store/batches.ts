import type { Call } from "./call.ts";
import { slotOf } from "./slot.ts";

/** Bounds of one script call: it runs alone on the server, and its bytes lie in memory on both sides. */
const MOST_KEYS = 256;
const MOST_BYTES = 2 ** 20;

type Schedule = (flush: () => void) => unknown;

const afterMicrotasks: Schedule = typeof process === "object" ? process.nextTick : queueMicrotask;
const atTurnsEnd: Schedule = typeof setImmediate === "function" ? setImmediate : queueMicrotask;

/**
 * Gathers the calls of one turn of the event loop and hands them on by operation, in the order made, in batches that
 * one script call can carry: at most 256 keys and 1 MiB (or a single call), on a cluster of one slot.
 */
export class Batches {
  readonly #send: (calls: Call[]) => void;
  readonly #bySlot: boolean;
  readonly #isAlone: () => boolean;
  #waiting = new Map<unknown, Call[]>();

  /** `isAlone`: no other call is under way, whose answer would bring others in this turn; it then waits for its microtasks only. */
  constructor(bySlot: boolean, isAlone: () => boolean, send: (calls: Call[]) => void) {
    this.#bySlot = bySlot;
    this.#isAlone = isAlone;
    this.#send = send;
  }

  add(call: Call): void {
    if (this.#waiting.size === 0) (this.#isAlone() ? afterMicrotasks : atTurnsEnd)(this.#flush);
    // Who asks for replicas waits for them, and nobody else does.
    const group = call.replicas === 0 ? call.operation : `${call.operation.name} ${call.replicas}`;
    const calls = this.#waiting.get(group);
    if (calls) calls.push(call);
    else this.#waiting.set(group, [call]);
  }

  readonly #flush = () => {
    const waiting = this.#waiting;
    this.#waiting = new Map();
    for (const calls of waiting.values())
      if (!this.#bySlot) this.#cut(calls);
      else {
        const slots = new Map<number, Call[]>();
        for (const call of calls) {
          const slot = slotOf(call.keys[0]!);
          const group = slots.get(slot);
          if (group) group.push(call);
          else slots.set(slot, [call]);
        }
        for (const group of slots.values()) this.#cut(group);
      }
  };

  #cut(calls: Call[]): void {
    let batch: Call[] = [];
    let keyCount = 0;
    let sizeBytes = 0;
    for (const call of calls) {
      if (batch.length > 0 && (keyCount + call.keys.length > MOST_KEYS || sizeBytes + call.sizeBytes > MOST_BYTES)) {
        this.#send(batch);
        batch = [];
        keyCount = 0;
        sizeBytes = 0;
      }
      batch.push(call);
      keyCount += call.keys.length;
      sizeBytes += call.sizeBytes;
    }
    if (batch.length > 0) this.#send(batch);
  }
}
