import { Coalescer } from "../../base/async/coalescer.ts";
import { isEdgeRuntime } from "../../base/async/edge-runtime.ts";
import { atTurnsEnd, inMicrotask, type Schedule } from "../../base/async/gathering.ts";
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

/** The calls of one turn by operation, then by slot and `replicas`. */
type Turn = Map<unknown, Map<number, Group>>;

/** Vercel's edge runtime has a `process` without `nextTick`, or with one that throws. */
const afterMicrotasks: Schedule = (run) => {
  if (typeof process !== "object" || typeof process.nextTick !== "function" || isEdgeRuntime) return inMicrotask(run);
  process.nextTick(run);
  return process.nextTick;
};

/**
 * Gathers the calls of one turn of the event loop and sends them in batches, by operation and in the order of the
 * calls. A batch is one script call: at most 256 keys and 1 MiB or the operation's own bound, or a single call. In a
 * cluster, and on a server that has refused keys of several slots, a batch has the keys of one slot. A full batch is
 * sent at once, so that the server works on it during the turn.
 */
export class Batches {
  readonly #send: (calls: Call[]) => void;
  #slotOf: ((key: string) => number) | undefined;
  readonly #maxBytes: number;
  readonly #coalescer: Coalescer<Turn>;
  #isNewTurn = false;
  #onTurn: (() => void) | undefined;

  /**
   * `isAlone` returns whether no other call is under way, whose answer could cause more calls in this turn. The batch
   * then waits only for the microtasks of this turn.
   */
  constructor(
    slotOf: ((key: string) => number) | undefined,
    isAlone: () => boolean,
    send: (calls: Call[]) => void,
    maxBytes = MAX_BYTES,
  ) {
    this.#slotOf = slotOf;
    this.#send = send;
    this.#maxBytes = maxBytes;
    this.#coalescer = new Coalescer<Turn>({
      schedule: (flush) => (isAlone() ? afterMicrotasks : atTurnsEnd)(flush),
      begin: () => {
        this.#isNewTurn = true;
        return new Map();
      },
      send: (turn) => {
        for (const groups of turn.values()) for (const { calls } of groups.values()) send(calls);
      },
    });
  }

  /** From now on a batch has the keys of one slot. */
  splitBySlot(slotOf: (key: string) => number): void {
    this.#slotOf = slotOf;
  }

  /** From now on calls `listener` after the first call of each turn was added. It may add a call. */
  onTurn(listener: () => void): void {
    this.#onTurn = listener;
  }

  add(call: Call): void {
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
    if (!this.#isNewTurn) return;
    this.#isNewTurn = false;
    this.#onTurn?.();
  }

  /**
   * Groups by the operation itself, since operations of one name may differ in their keys. Calls with different
   * `replicas` never share a group, so that only calls that ask for replicas wait for them.
   */
  #groupOf({ operation, keys, replicas }: Call): Group {
    const turn = this.#coalescer.open();
    let groups = turn.get(operation);
    if (!groups) {
      groups = new Map();
      turn.set(operation, groups);
    }
    const number = replicas * SLOTS + (this.#slotOf?.(keys[0]!) ?? 0);
    let group = groups.get(number);
    if (!group) {
      group = { calls: [], keyCount: 0, sizeBytes: 0 };
      groups.set(number, group);
    }
    return group;
  }

  #hasRoomFor(group: Group, { operation, keys, sizeBytes }: Call): boolean {
    const maxBytes = Math.min(operation.maxBytes ?? MAX_BYTES, this.#maxBytes);
    return group.keyCount + keys.length <= MAX_KEYS && group.sizeBytes + sizeBytes <= maxBytes;
  }
}
