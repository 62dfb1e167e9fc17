import { atTurnsEnd } from "../../async/gathering.ts";
import type { Call } from "./call.ts";

const SLOTS = 16_384;
/** Bounds of one script call. The server runs nothing else during it, and its bytes are in memory on both sides. */
const MAX_KEYS = 256;
const MAX_BYTES = 2 ** 20;

/** Calls that may travel together. */
interface Group {
  calls: Call[];
  keyCount: number;
  sizeBytes: number;
}

type Schedule = (flush: () => void) => unknown;

/** Vercel's edge runtime has a `process` without `nextTick`. */
const afterMicrotasks: Schedule =
  typeof process === "object" && typeof process.nextTick === "function" ? process.nextTick : queueMicrotask;

/**
 * Gathers the calls of one turn of the event loop and sends them in batches, by operation and in the order of the
 * calls. A batch is one script call: at most 256 keys and 1 MiB or the operation's own bound, or a single call. In a
 * cluster a batch has the keys of one slot. A full batch is sent at once, so that the server works on it during the
 * turn.
 */
export class Batches {
  readonly #send: (calls: Call[]) => void;
  readonly #slotOf: ((key: string) => number) | undefined;
  readonly #isAlone: () => boolean;
  readonly #mostBytes: number;
  #waiting = new Map<unknown, Map<number, Group>>();

  /**
   * `isAlone` returns whether no other call is under way, whose answer could cause more calls in this turn. The batch
   * then waits only for the microtasks of this turn.
   */
  constructor(
    slotOf: ((key: string) => number) | undefined,
    isAlone: () => boolean,
    send: (calls: Call[]) => void,
    mostBytes = MAX_BYTES,
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

  /**
   * Groups by the operation itself, since operations of one name may differ in their keys. Calls with different
   * `replicas` never share a group, so that only calls that ask for replicas wait for them.
   */
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
    const mostBytes = Math.min(operation.mostBytes ?? MAX_BYTES, this.#mostBytes);
    return group.keyCount + keys.length <= MAX_KEYS && group.sizeBytes + sizeBytes <= mostBytes;
  }
}
