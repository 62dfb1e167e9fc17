import type { Call } from "./call.ts";
import { slotOf } from "./slot.ts";

/** Bounds of one script call: it runs alone on the server, and its bytes lie in memory on both sides. */
const MOST_KEYS = 256;
const MOST_BYTES = 2 ** 20;

const atTurnsEnd: (flush: () => void) => unknown =
  typeof setImmediate === "function" ? setImmediate : (flush) => queueMicrotask(flush);

/**
 * Gathers the calls of one turn of the event loop and hands them on by operation, in the order made, in batches that
 * one script call can carry: at most 256 keys and 1 MiB (or a single call), on a cluster of one slot.
 */
export class Batches {
  readonly #send: (calls: Call[]) => void;
  readonly #bySlot: boolean;
  #waiting = new Map<unknown, Call[]>();

  constructor(bySlot: boolean, send: (calls: Call[]) => void) {
    this.#bySlot = bySlot;
    this.#send = send;
  }

  add(call: Call): void {
    if (this.#waiting.size === 0) atTurnsEnd(() => this.#flush());
    // Who asks for replicas waits for them, and nobody else does.
    const group = call.replicas === 0 ? call.operation : `${call.operation.name} ${call.replicas}`;
    const calls = this.#waiting.get(group);
    if (calls) calls.push(call);
    else this.#waiting.set(group, [call]);
  }

  #flush(): void {
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
  }

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
