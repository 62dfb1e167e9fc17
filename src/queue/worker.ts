import { OrielError } from "../errors.ts";
import { Listeners } from "../listeners.ts";
import type { Store } from "../store/contract.ts";
import { claimOf, outcomeOf } from "./claimed.ts";
import type { Claim, Outcome, Result, Turned } from "./exchange.ts";
import { extend } from "./extend.ts";
import type { Held } from "./held.ts";
import { Job } from "./job.ts";
import { MOST_MESSAGES } from "./layout.ts";
import { ShardTurns } from "./shard-turns.ts";
import type { Timers } from "./timers.ts";
import type { WorkerEvents } from "./worker-events.ts";
import { type WorkerOptions, workerSettings } from "./worker-options.ts";

interface Place {
  store: Store;
  keys: readonly string[];
  layout: string;
  rememberMs: number;
}

const NOT_BEGUN = { controller: undefined, loss: undefined, startedAtMs: 0, error: undefined, hasResult: false };
const LAST_TRIES = 5;
const CLOSING_CHECK_MS = 5;

/** Has a handler process what is due, several at a time, until it is closed. Made by `DelayQueue.process`. */
export class Worker<Payload = unknown> {
  readonly #place: Place;
  readonly #queue: string;
  readonly #handler: (job: Job<Payload>) => unknown;
  readonly #settings: ReturnType<typeof workerSettings>;
  readonly #timers: Timers;
  readonly #listeners = new Listeners<WorkerEvents>();
  readonly #turns: readonly ShardTurns[];
  /** All that is claimed and whose result is not brought yet, by member. */
  readonly #held = new Map<string, Held<Payload>>();
  #waiting: Held<Payload>[] = [];
  #running = 0;
  #reserved = 0;
  #cancelExtending: (() => void) | undefined;
  #closed: Promise<void> | undefined;

  /** Throws ARGUMENT for a wrong option. */
  constructor(
    place: Place,
    queue: string,
    handler: (job: Job<Payload>) => unknown,
    options: WorkerOptions,
    timers: Timers,
  ) {
    this.#place = place;
    this.#queue = queue;
    this.#handler = handler;
    this.#settings = workerSettings(options);
    this.#timers = timers;
    const { store, layout } = place;
    const { visibilityMs, signal } = this.#settings;
    this.#turns = place.keys.map(
      (key, shard) =>
        new ShardTurns({
          store,
          key,
          layout,
          visibilityMs,
          timers,
          reserve: () => this.#reserve(),
          release: (count) => {
            this.#reserved -= count;
          },
          onClaims: (claims, turned, sentAtMs) => this.#take(shard, claims, turned, sentAtMs),
          onFate: (result, isKept, isAgain) => this.#end(result, isKept, isAgain),
          onError: (error) => this.#listeners.tell("error", { error }),
        }),
    );
    this.#extendLater();
    for (const turns of this.#turns) turns.pump();
    if (signal?.aborted) void this.close();
    else signal?.addEventListener("abort", () => void this.close(), { once: true });
  }

  /** Calls `listener` at each such event; returns what ends that. */
  on<Name extends keyof WorkerEvents>(name: Name, listener: (told: WorkerEvents[Name]) => void): () => void {
    return this.#listeners.on(name, listener);
  }

  /**
   * Claims no more, gives back what no handler has begun, waits for the handlers that run and brings their results. Where
   * the store is out of reach, results are given up after some tries: those messages come again.
   */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    for (const turns of this.#turns) turns.stopClaiming();
    this.#giveBack();
    for (;;) {
      const isDone = this.#running === 0 && this.#turns.every((each) => each.isIdle || each.failures >= LAST_TRIES);
      if (isDone) break;
      await new Promise<void>((resolve) => this.#timers.after(CLOSING_CHECK_MS, resolve));
    }
    this.#cancelExtending?.();
    for (const turns of this.#turns) turns.close();
  }

  #giveBack(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const held of waiting) this.#bring(held, { verb: "back", priority: held.message.priority });
  }

  /** A shard's share of the room there is. */
  #reserve(): number {
    if (this.#closed) return 0;
    const { concurrency, prefetch } = this.#settings;
    const room = concurrency + prefetch - this.#held.size - this.#reserved;
    const sharing = this.#turns.filter((each) => each.mayBeDue).length;
    const most = Math.min(Math.max(0, room), Math.ceil((concurrency + prefetch) / Math.max(1, sharing)), MOST_MESSAGES);
    this.#reserved += most;
    return most;
  }

  #take(shard: number, claims: readonly Claim[], { nowMs }: Turned, sentAtMs: number): void {
    const endsAtMs = sentAtMs + this.#settings.visibilityMs;
    let lateMs = 0;
    for (const claim of claims) {
      const message = claimOf<Payload>(claim);
      const held: Held<Payload> = { message, shard, endsAtMs, ...NOT_BEGUN };
      this.#held.set(claim.member, held);
      this.#waiting.push(held);
      lateMs = Math.max(lateMs, nowMs - message.dueAtMs);
      if (message.hasLapsed) this.#listeners.tell("stalled", { id: message.id, attempt: message.attempt });
    }
    if (lateMs >= this.#settings.lagAfterMs) this.#listeners.tell("lag", { lateMs });
    if (this.#closed) this.#giveBack();
    else this.#start();
  }

  #start(): void {
    while (this.#running < this.#settings.concurrency && this.#waiting.length > 0) {
      this.#running++;
      void this.#run(this.#waiting.shift()!);
    }
  }

  async #run(held: Held<Payload>): Promise<void> {
    const { message } = held;
    const job = new Job(this.#queue, message, () => signalOf(held));
    held.startedAtMs = this.#place.store.monotonic();
    let outcome: Outcome;
    try {
      await this.#handler(job);
      outcome = { verb: "done", rememberMs: this.#place.rememberMs };
    } catch (error) {
      held.error = error;
      this.#listeners.tell("failed", { id: message.id, attempt: message.attempt, error });
      outcome = outcomeOf(message, error, undefined, this.#settings.attempts);
    }
    this.#running--;
    if (!this.#closed) this.#start();
    this.#bring(held, outcome);
  }

  #bring(held: Held<Payload>, outcome: Outcome): void {
    held.hasResult = true;
    const isUrgent = this.#waiting.length === 0;
    this.#held.delete(held.message.receipt.member);
    this.#bringing.set(held.message.receipt.member, held);
    this.#turns[held.shard]!.bring({ ...held.message.receipt, ...outcome }, isUrgent);
  }

  /** Results under way. */
  readonly #bringing = new Map<string, Held<Payload>>();

  #end(result: Result, isKept: boolean, isAgain: boolean): void {
    const held = this.#bringing.get(result.member);
    this.#bringing.delete(result.member);
    if (!held || result.verb === "back") return;
    const { id, attempt } = held.message;
    if (!isKept && !isAgain) this.#listeners.tell("lost", { id, attempt });
    else if (result.verb === "done") {
      const durationMs = this.#place.store.monotonic() - held.startedAtMs;
      this.#listeners.tell("completed", { id, attempt, durationMs });
    } else if (result.verb === "dead") this.#listeners.tell("dead", { id, attempt, error: held.error });
    else this.#listeners.tell("retry", { id, attempt, delayMs: result.delayMs });
  }

  #extendLater(): void {
    this.#cancelExtending = this.#timers.after(this.#settings.visibilityMs / 3, () => {
      void this.#extendAll();
      this.#extendLater();
    });
  }

  /** One timer for all: each is extended three times before it would lapse. */
  async #extendAll(): Promise<void> {
    const { store, keys, layout } = this.#place;
    const { visibilityMs } = this.#settings;
    const calls = keys.map(async (key, shard) => {
      const all = [...this.#held.values()].filter((held) => held.shard === shard);
      for (let from = 0; from < all.length; from += MOST_MESSAGES) {
        const some = all.slice(from, from + MOST_MESSAGES);
        const sentAtMs = store.monotonic();
        const held = some.map(({ message }) => message.receipt);
        const isOurs = await store.run(extend, key, { layout, held, visibilityMs });
        for (const [i, each] of some.entries())
          if (isOurs[i]) each.endsAtMs = sentAtMs + visibilityMs;
          else if (!each.hasResult) this.#lose(each);
      }
    });
    for (const end of await Promise.allSettled(calls))
      if (end.status === "rejected") this.#listeners.tell("error", { error: end.reason });
    const nowMs = store.monotonic();
    for (const held of this.#held.values()) if (held.endsAtMs < nowMs) this.#lose(held);
  }

  /** Its handler is told; what it answers is still brought, and judged by the store. */
  #lose(held: Held<Payload>): void {
    held.loss ??= new OrielError("LOST", `message ${held.message.id} is no longer claimed by this delivery`);
    held.controller?.abort(held.loss);
  }
}

function signalOf(held: Held<unknown>): AbortSignal {
  held.controller ??= new AbortController();
  if (held.loss) held.controller.abort(held.loss);
  return held.controller.signal;
}
