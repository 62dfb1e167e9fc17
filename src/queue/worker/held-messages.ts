import type { Timers } from "../../base/async/timers.ts";
import { OrielError } from "../../base/errors.ts";
import type { Site } from "../../base/site.ts";
import { warn } from "../../base/warn.ts";
import type { Store } from "../../store/contract.ts";
import { MAX_MESSAGES } from "../format/layout.ts";
import { type ClaimedMessage, causeOf, doNotRetryOf } from "../job.ts";
import { extend } from "../steps/messages.ts";

export interface HeldMessagesOptions {
  store: Store;
  keys: readonly string[];
  layout: string;
  visibilityMs: number;
  timers: Timers;
  onError(error: unknown): void;
}

/**
 * The messages that a worker holds. One timer for all of them extends each claim three times before it would lapse. A
 * failed attempt is soon repeated. A handler's signal aborts as soon as another worker may have claimed its message.
 * Without held messages there is no work.
 */
export class HeldMessages<Payload> {
  readonly #options: HeldMessagesOptions;
  readonly #all = new Set<HeldMessage<Payload>>();
  #extendAtMs = Number.POSITIVE_INFINITY;
  #cancelTimer: (() => void) | undefined;

  constructor(options: HeldMessagesOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#all.size;
  }

  [Symbol.iterator](): Iterator<HeldMessage<Payload>> {
    return this.#all.values();
  }

  /** If an earlier delivery of the same message is still held here, it becomes lost. */
  add(held: HeldMessage<Payload>): void {
    if (held.message.hasLapsed)
      for (const each of this.#all) if (each.message.receipt.member === held.message.receipt.member) markLost(each);
    this.#all.add(held);
    if (this.#cancelTimer) return;
    this.#extendAtMs = this.#options.store.leaseClock() + this.#options.visibilityMs / 3;
    this.#sleep();
  }

  delete(held: HeldMessage<Payload>): void {
    this.#all.delete(held);
  }

  /** Whether another worker may have claimed it by now. */
  isLost({ endsAtMs, loss }: HeldMessage<Payload>): boolean {
    return loss !== undefined || endsAtMs <= this.#options.store.leaseClock();
  }

  close(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  readonly #wake = () => {
    this.#cancelTimer = undefined;
    const { store, keys, visibilityMs } = this.#options;
    for (const held of this.#all) if (this.isLost(held)) markLost(held);
    const nowMs = store.leaseClock();
    if (nowMs >= this.#extendAtMs) {
      this.#extendAtMs = nowMs + visibilityMs / 3;
      for (const shard of keys.keys()) this.#extend(shard).catch(this.#options.onError);
    }
    if (this.#all.size > 0) this.#sleep();
  };

  #sleep(): void {
    let atMs = this.#extendAtMs;
    for (const { endsAtMs, loss } of this.#all) if (!loss) atMs = Math.min(atMs, endsAtMs);
    this.#cancelTimer?.();
    this.#cancelTimer = this.#options.timers.after(Math.max(0, atMs - this.#options.store.leaseClock()), this.#wake);
  }

  async #extend(shard: number): Promise<void> {
    const { store, keys, layout, visibilityMs, onError } = this.#options;
    // A loss that was reported to a handler is final.
    const all = [...this.#all].filter((held) => held.shard === shard && !this.isLost(held));
    for (let from = 0; from < all.length; from += MAX_MESSAGES) {
      const some = all.slice(from, from + MAX_MESSAGES);
      const sentAtMs = store.leaseClock();
      const held = some.map(({ message }) => message.receipt);
      try {
        const isOurs = await store.run(extend, keys[shard]!, { layout, held, visibilityMs });
        for (const [i, each] of some.entries())
          if (isOurs[i]) each.endsAtMs = lapseMs(sentAtMs, visibilityMs);
          else if (this.#all.has(each)) markLost(each);
      } catch (error) {
        this.#extendAtMs = Math.min(this.#extendAtMs, store.leaseClock() + visibilityMs / 10);
        if (this.#cancelTimer) this.#sleep();
        onError(error);
      }
    }
  }
}

/** A message that a worker holds: it waits for a handler, is in one, or its result is being sent. */
export interface HeldMessage<Payload> {
  message: ClaimedMessage<Payload>;
  shard: number;
  /** Created when the signal is first read. */
  controller: AbortController | undefined;
  /** Why this worker no longer holds it. */
  loss: Error | undefined;
  /** Why its handler should stop although the message is still held: the worker closes. */
  interruption: Error | undefined;
  /** The pause that `job.again` asked for. */
  againMs: number | undefined;
  /** Its handler has ended, or its message was given back before. */
  isEnded: boolean;
  /** Its claim lapsed, and this worker moved its message to the dead letters and emitted that. */
  isDead: boolean;
  /** When the claim lapses, by the monotonic clock, counted from the time of the request. */
  endsAtMs: number;
  /** By the monotonic clock. */
  claimedAtMs: number;
  /** When its handler started, by the monotonic clock. */
  startedAtMs: number;
  error: unknown;
  /** Set when its handler starts. */
  own: OwnMessage | undefined;
  /** Of its envelope. */
  sizeBytes: number;
}

/**
 * The earliest time at which a claim lapses, by the local clock. The server counts whole ms, so the claim may be up to
 * one ms shorter.
 */
export function lapseMs(askedAtMs: number, visibilityMs: number): number {
  return askedAtMs + visibilityMs - 1;
}

export function signalOf(held: HeldMessage<unknown>): AbortSignal {
  held.controller ??= new AbortController();
  const reason = held.interruption ?? held.loss;
  if (reason) held.controller.abort(reason);
  return held.controller.signal;
}

/** Aborts the handler's signal because the worker closes. The message is still held. */
export function interrupt(held: HeldMessage<unknown>): void {
  held.interruption ??= new DOMException(`the worker closes, and gives message ${held.message.id} back`, "AbortError");
  held.controller?.abort(held.interruption);
}

/** Whether a handler threw because it was interrupted: the signal's reason, an error with this cause, or an AbortError. */
export function isInterruption({ interruption }: HeldMessage<unknown>, thrown: unknown): boolean {
  if (!interruption || doNotRetryOf(thrown) !== undefined) return false;
  return causeOf(thrown, (error) => error === interruption || error.name === "AbortError") !== undefined;
}

/** Aborts the handler's signal. The handler's result is still sent, and the store decides whether it counts. */
function markLost<Payload>(held: HeldMessage<Payload>): void {
  held.loss ??= new OrielError("LOST", `message ${held.message.id} is no longer claimed by this delivery`);
  held.controller?.abort(held.loss);
}

/** A message whose handler runs in this process. */
export interface OwnMessage {
  readonly id: string;
  /** The first call that named it and changed nothing. */
  refused: "add" | "reschedule" | undefined;
  isDone: boolean;
}

/**
 * The messages of a queue whose handlers run in this process. A handler that adds or reschedules its own message changes
 * nothing, since the message is still claimed, and then it is done: a poll would stop in silence. So the process is
 * warned, once for each queue. A listener of `completed` that adds the message while its id is known is found too.
 */
export class OwnMessages {
  readonly #at: Site;
  readonly #byId = new Map<string, OwnMessage>();
  #hasWarned = false;

  /** `at`: the site of the queue. */
  constructor(at: Site) {
    this.#at = at;
  }

  get(id: string): OwnMessage | undefined {
    return this.#byId.get(id);
  }

  begin(id: string): OwnMessage {
    const own: OwnMessage = { id, refused: undefined, isDone: false };
    this.#byId.set(id, own);
    return own;
  }

  /** The outcome of its delivery is known, and the listeners were called. */
  end(own: OwnMessage, isDone: boolean): void {
    if (this.#byId.get(own.id) === own) this.#byId.delete(own.id);
    own.isDone = isDone;
    if (isDone && own.refused) this.#warn(own.id, own.refused);
  }

  /** A call named the message, which was in its handler then, and changed nothing. */
  refuse(own: OwnMessage, operation: "add" | "reschedule"): void {
    own.refused ??= operation;
    if (own.isDone) this.#warn(own.id, operation);
  }

  #warn(id: string, operation: string): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    const text =
      `the message ${JSON.stringify(id)} was in its handler, so this call changed nothing, and it is done now; ` +
      "call job.again({ delay }) in a handler whose message is to come again";
    const error = this.#at.error(operation, new OrielError("ARGUMENT", text)) as OrielError;
    warn(error.message);
  }
}
