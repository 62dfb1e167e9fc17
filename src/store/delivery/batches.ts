import { atTurnsEnd } from "../../async/gathering.ts";
import type { Call } from "./call.ts";

const SLOTS = 16_384;
/** Bounds of one script call: it runs alone on the server, and its bytes lie in memory on both sides. */
const MOST_KEYS = 256;
const MOST_BYTES = 2 ** 20;

/** Calls that may travel together. */
interface Group {
  calls: Call[];
  keyCount: number;
  sizeBytes: number;
}

type Schedule = (flush: () => void) => unknown;

/** A `process` that has an environment and nothing else is that of Vercel's edge runtime. */
const afterMicrotasks: Schedule =
  typeof process === "object" && typeof process.nextTick === "function" ? process.nextTick : queueMicrotask;

/**
 * Gathers the calls of one turn of the event loop and hands them on by operation, in the order made, in batches that
 * one script call can carry: at most 256 keys and 1 MiB, or as the operation has it (or a single call), on a cluster of one
 * slot. A batch that is full goes at once: the server works on it while the turn goes on.
 */
export class Batches {
  readonly #send: (calls: Call[]) => void;
  readonly #slotOf: ((key: string) => number) | undefined;
  readonly #isAlone: () => boolean;
  readonly #mostBytes: number;
  #waiting = new Map<unknown, Map<number, Group>>();

  /** `isAlone`: no other call is under way, whose answer would bring others in this turn; it then waits for its microtasks only. */
  constructor(
    slotOf: ((key: string) => number) | undefined,
    isAlone: () => boolean,
    send: (calls: Call[]) => void,
    mostBytes = MOST_BYTES,
  ) {
    this.#slotOf = slotOf;
    this.#isAlone = isAlone;
    this.#send = send;
    this.#mostBytes = mostBytes;
  }

  add(call: Call): void {
    if (this.#waiting.size === 0) (this.#isAlone() ? afterMicrotasks : atTurnsEnd)(this.#flush);
    const group = this.#groupOf(call);
    if (group.calls.length > 0 && !this.#hasRoomFor(group, call)) {
      this.#send(group.calls);
      group.calls = [];
      group.keyCount = 0;
      group.sizeBytes = 0;
    }
    group.calls.push(call);
    group.keyCount += call.keys.length;
    group.sizeBytes += call.sizeBytes;
  }

  /** By the operation itself, as some of one name differ in their keys. Who asks for replicas waits for them, and nobody else does. */
  #groupOf({ operation, keys, replicas }: Call): Group {
    let groups = this.#waiting.get(operation);
    if (!groups) {
      groups = new Map();
      this.#waiting.set(operation, groups);
    }
    const number = replicas * SLOTS + (this.#slotOf?.(keys[0]!) ?? 0);
    let group = groups.get(number);
    if (!group) {
      group = { calls: [], keyCount: 0, sizeBytes: 0 };
      groups.set(number, group);
    }
    return group;
  }

  readonly #flush = () => {
    const waiting = this.#waiting;
    this.#waiting = new Map();
    for (const groups of waiting.values()) for (const { calls } of groups.values()) this.#send(calls);
  };

  #hasRoomFor(group: Group, { operation, keys, sizeBytes }: Call): boolean {
    const mostBytes = Math.min(operation.mostBytes ?? MOST_BYTES, this.#mostBytes);
    return group.keyCount + keys.length <= MOST_KEYS && group.sizeBytes + sizeBytes <= mostBytes;
  }
}
