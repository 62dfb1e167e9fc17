import { gathering } from "../../async/gathering.ts";
import { argumentError } from "../../errors.ts";
import { Place } from "../../place.ts";
import type { Store } from "../../store/contract.ts";
import { Job } from "../job.ts";
import type { Claim, Outcome, Result, Turned } from "../steps/exchange.ts";
import type { Timers } from "../timers.ts";
import { burialOf, type ClaimedMessage, claimOf, corruptMessage, outcomeOf } from "./claimed.ts";
import { type Held, lapseMs, signalOf } from "./held.ts";
import { Holds } from "./holds.ts";
import { MOST_A_TURN, ShardTurns } from "./shard-turns.ts";
import type { WorkerEvents } from "./worker-events.ts";
import { type WorkerOptions, workerSettings } from "./worker-options.ts";
import { WorkerTells } from "./worker-tells.ts";

interface QueuePlace {
  store: Store;
  keys: readonly string[];
  layout: string;
  dedupeMs: number;
}

const NOT_BEGUN = { controller: undefined, loss: undefined, startedAtMs: 0, error: undefined };
const LAST_TRIES = 5;

/** Passes due messages to a handler, several at a time, until it is closed. Created by `DelayQueue.process`. */
export class QueueWorker<Payload = unknown> {
  readonly #place: QueuePlace;
  readonly #queue: string;
  readonly #handler: (job: Job<Payload>) => unknown;
  readonly #settings: ReturnType<typeof workerSettings>;
  readonly #tells: WorkerTells;
  readonly #turns: readonly ShardTurns[];
  /** Shards that wait for room, the longest wait first. */
  readonly #hungry = new Set<number>();
  /** Messages that wait for a handler or are in one. */
  readonly #holds: Holds<Payload>;
  #waiting: Held<Payload>[] = [];
  #running = 0;
  #reserved = 0;
  #isSharing = false;
  #closed: Promise<void> | undefined;
  /** Set while closing: checks whether everything is done. */
  #whenTurned: (() => void) | undefined;
  readonly #onAbort = () => {
    this.close().catch((error) => this.#tells.error(error));
  };

  /** Throws ARGUMENT for a wrong option. */
  constructor(
    place: QueuePlace,
    queue: string,
    handler: (job: Job<Payload>) => unknown,
    options: WorkerOptions,
    timers: Timers,
  ) {
    const at = new Place("QueueWorker", queue, place.store);
    this.#tells = new WorkerTells(at, place.store);
    this.#settings = at.checked(undefined, () => {
      if (typeof handler !== "function") throw argumentError("handler", handler, "a function");
      return workerSettings(options);
    });
    this.#place = place;
    this.#queue = queue;
    this.#handler = handler;
    const { store, keys, layout, dedupeMs } = place;
    const { visibilityMs, signal } = this.#settings;
    const onError = (error: unknown) => this.#tells.error(error);
    this.#holds = new Holds({ store, keys, layout, visibilityMs, timers, onError });
    this.#turns = keys.map(
      (key, shard) =>
        new ShardTurns({
          store,
          key,
          layout,
          visibilityMs,
          dedupeMs,
          timers,
          reserve: (turns) => this.#reserve(shard, turns),
          release: (count) => {
            this.#reserved -= count;
          },
          onClaims: (claims, turned, sentAtMs) => this.#take(shard, claims, turned, sentAtMs),
          onDied: (died) => this.#tells.died(died),
          onFate: (result, fate, isAgain) => this.#tells.end(result, fate, isAgain),
          onTurned: () => {
            this.#share();
            this.#whenTurned?.();
          },
          onError,
        }),
    );
    for (const turns of this.#turns) turns.pump();
    if (signal?.aborted) this.#onAbort();
    else signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** Calls `listener` for each such event. Returns a function that removes it. */
  on<Name extends keyof WorkerEvents>(name: Name, listener: (told: WorkerEvents[Name]) => void): () => void {
    return this.#tells.listeners.on(name, listener);
  }

  /**
   * Stops claiming, returns messages that no handler has started, waits for running handlers and delivers their
   * results. If the store cannot be reached, results are dropped after some tries (`lost`) and those messages are
   * delivered again.
   */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#settings.signal?.removeEventListener("abort", this.#onAbort);
    for (const turns of this.#turns) turns.stopClaiming();
    this.#giveBack();
    const lastFailures = this.#turns.map((each) => each.failures + LAST_TRIES);
    await new Promise<void>((resolve) => {
      this.#whenTurned = () => {
        const isDone = this.#turns.every((each, i) => each.isIdle || each.failures >= lastFailures[i]!);
        if (isDone && this.#running === 0) resolve();
      };
      this.#whenTurned();
    });
    this.#holds.close();
    for (const turns of this.#turns) turns.close();
    this.#tells.giveUp();
  }

  #giveBack(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const held of waiting) this.#bring(held, { verb: "back", priority: held.message.priority });
  }

  /** Reserves room for one of a shard's `turns`: an equal part of the room left after shards that already wait. */
  #reserve(shard: number, turns: number): number {
    if (this.#closed) return 0;
    const { concurrency, prefetch } = this.#settings;
    let room = concurrency + prefetch - this.#holds.size - this.#reserved;
    for (const other of this.#hungry) {
      if (other === shard) break;
      if (this.#turns[other]!.mayClaim) room--;
    }
    if (room <= 0) {
      this.#hungry.add(shard);
      return 0;
    }
    this.#hungry.delete(shard);
    const sharing = this.#turns.filter((each) => each.mayBeDue).length;
    const most = Math.min(room, Math.ceil((concurrency + prefetch) / Math.max(1, sharing) / turns), MOST_A_TURN);
    this.#reserved += most;
    return most;
  }

  /** Gives free room to the shards that wait for it. */
  #share(): void {
    for (const shard of [...this.#hungry]) if (this.#turns[shard]!.isIdle) this.#turns[shard]!.pump();
  }

  #take(shard: number, claims: readonly Claim[], { nowMs }: Turned, sentAtMs: number): void {
    const endsAtMs = lapseMs(sentAtMs, this.#settings.visibilityMs);
    let lateMs = 0;
    for (const claim of claims) {
      const message = this.#read(shard, claim);
      if (!message) continue;
      const held: Held<Payload> = { message, shard, endsAtMs, ...NOT_BEGUN };
      this.#holds.add(held);
      this.#waiting.push(held);
      lateMs = Math.max(lateMs, nowMs - message.dueAtMs);
      if (message.hasLapsed) this.#tells.listeners.tell("stalled", { id: message.id, attempt: message.attempt });
    }
    if (lateMs >= this.#settings.lagAfterMs) this.#tells.listeners.tell("lag", { lateMs });
    if (this.#closed) this.#giveBack();
    else this.#start();
  }

  /** Reads a claimed message. Bytes that are not a message move to the dead letters; other messages are unaffected. */
  #read(shard: number, claim: Claim): ClaimedMessage<Payload> | undefined {
    try {
      return claimOf<Payload>(claim);
    } catch (cause) {
      const outcome = burialOf(claim, cause);
      const result: Result = { member: claim.member, deliveries: claim.deliveries, ...outcome };
      const message = { id: outcome.id, attempt: claim.deliveries };
      const error = this.#tells.at.error(undefined, corruptMessage(this.#place.keys[shard]!, outcome.id, cause));
      this.#tells.expect(result, { message, error, startedAtMs: 0 });
      this.#turns[shard]!.bring(result, true);
      return undefined;
    }
  }

  #start(): void {
    while (this.#running < this.#settings.concurrency && this.#waiting.length > 0) {
      const held = this.#waiting.shift()!;
      if (this.#holds.isLost(held)) this.#bring(held, { verb: "back", priority: held.message.priority });
      else {
        this.#running++;
        this.#run(held).catch((error) => this.#tells.error(error));
      }
    }
  }

  async #run(held: Held<Payload>): Promise<void> {
    const { message } = held;
    const job = new Job(this.#queue, message, () => signalOf(held));
    held.startedAtMs = this.#place.store.leaseClock();
    let outcome: Outcome;
    try {
      await this.#handler(job);
      outcome = { verb: "done" };
    } catch (error) {
      held.error = error;
      this.#tells.listeners.tell("failed", { id: message.id, attempt: message.attempt, error });
      outcome = outcomeOf(message, error, undefined, this.#settings.attempts);
    }
    this.#running--;
    if (!this.#closed) this.#start();
    this.#bring(held, outcome);
  }

  #bring(held: Held<Payload>, outcome: Outcome): void {
    const isUrgent = this.#waiting.length === 0;
    const result: Result = { ...held.message.receipt, ...outcome };
    this.#holds.delete(held);
    if (outcome.verb !== "back") this.#tells.expect(result, held);
    this.#turns[held.shard]!.bring(result, isUrgent);
    if (this.#hungry.size === 0 || this.#isSharing) return;
    this.#isSharing = true;
    gathering().then(() => {
      this.#isSharing = false;
      this.#share();
    });
  }
}
