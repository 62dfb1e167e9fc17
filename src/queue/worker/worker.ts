import { gathering } from "../../async/gathering.ts";
import type { Timers } from "../../async/timers.ts";
import { argumentError } from "../../errors.ts";
import { Place } from "../../place.ts";
import type { Store } from "../../store/contract.ts";
import { registerStructure } from "../../structures.ts";
import { Job } from "../job.ts";
import type { Claim, Outcome, SettleAndClaimResult, Settlement } from "../steps/settlement.ts";
import { type ClaimedMessage, claimOf, corruptMessage, corruptOutcomeOf, outcomeOf } from "./claimed.ts";
import { type HeldMessage, lapseMs, signalOf } from "./held-message.ts";
import { HeldMessages } from "./held-messages.ts";
import { MAX_PER_REQUEST, ShardPoller } from "./shard-poller.ts";
import { WorkerEmitter } from "./worker-emitter.ts";
import type { WorkerEvents } from "./worker-events.ts";
import { type WorkerOptions, workerSettings } from "./worker-options.ts";

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
  /** The queue that it works for. The worker keeps it, so that its metrics last as long as the worker. */
  readonly queue: { readonly name: string };
  readonly #handler: (job: Job<Payload>) => unknown;
  readonly #settings: ReturnType<typeof workerSettings>;
  readonly #emitter: WorkerEmitter;
  readonly #pollers: readonly ShardPoller[];
  /** Shards that wait for room, the longest wait first. */
  readonly #waitingShards = new Set<number>();
  /** Messages that wait for a handler or are in one. */
  readonly #held: HeldMessages<Payload>;
  #waiting: HeldMessage<Payload>[] = [];
  #running = 0;
  #reserved = 0;
  #isSharing = false;
  #closed: Promise<void> | undefined;
  /** Set while closing: checks whether everything is done. */
  #whenTurned: (() => void) | undefined;
  readonly #onAbort = () => {
    this.close().catch((error) => this.#emitter.error(error));
  };

  /** Throws ARGUMENT for a wrong option. */
  constructor(
    place: QueuePlace,
    queue: { readonly name: string },
    handler: (job: Job<Payload>) => unknown,
    options: WorkerOptions,
    timers: Timers,
  ) {
    const at = new Place("QueueWorker", queue.name, place.store);
    this.#emitter = new WorkerEmitter(at, place.store);
    this.#settings = at.checked(undefined, () => {
      if (typeof handler !== "function") throw argumentError("handler", handler, "a function");
      return workerSettings(options);
    });
    this.#place = place;
    this.queue = queue;
    this.#handler = handler;
    const { store, keys, layout, dedupeMs } = place;
    const { visibilityMs, signal } = this.#settings;
    const onError = (error: unknown) => this.#emitter.error(error);
    this.#held = new HeldMessages({ store, keys, layout, visibilityMs, timers, onError });
    this.#pollers = keys.map(
      (key, shard) =>
        new ShardPoller({
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
          onClaims: (claims, answer, sentAtMs) => this.#take(shard, claims, answer, sentAtMs),
          onExhausted: (exhausted) => this.#emitter.died(exhausted),
          onSettled: (settlement, status, isRetry) => this.#emitter.end(settlement, status, isRetry),
          onPolled: () => {
            this.#share();
            this.#whenTurned?.();
          },
          onError,
        }),
    );
    registerStructure(store, this);
    for (const turns of this.#pollers) turns.pump();
    if (signal?.aborted) this.#onAbort();
    else signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** Calls `listener` for each such event. Returns a function that removes it. */
  on<Name extends keyof WorkerEvents>(name: Name, listener: (event: WorkerEvents[Name]) => void): () => void {
    return this.#emitter.listeners.on(name, listener);
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
    for (const turns of this.#pollers) turns.stopClaiming();
    this.#releaseWaiting();
    const lastFailures = this.#pollers.map((each) => each.failures + LAST_TRIES);
    await new Promise<void>((resolve) => {
      this.#whenTurned = () => {
        const isDone = this.#pollers.every((each, i) => each.isIdle || each.failures >= lastFailures[i]!);
        if (isDone && this.#running === 0) resolve();
      };
      this.#whenTurned();
    });
    this.#held.close();
    for (const turns of this.#pollers) turns.close();
    this.#emitter.abandonAll();
  }

  #releaseWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const held of waiting) this.#settle(held, { verb: "release", priority: held.message.priority });
  }

  /** Reserves room for one of a shard's `turns`: an equal part of the room left after shards that already wait. */
  #reserve(shard: number, turns: number): number {
    if (this.#closed) return 0;
    const { concurrency, prefetch } = this.#settings;
    let room = concurrency + prefetch - this.#held.size - this.#reserved;
    for (const other of this.#waitingShards) {
      if (other === shard) break;
      if (this.#pollers[other]!.mayClaim) room--;
    }
    if (room <= 0) {
      this.#waitingShards.add(shard);
      return 0;
    }
    this.#waitingShards.delete(shard);
    const sharing = this.#pollers.filter((each) => each.mayBeDue).length;
    const limit = Math.min(room, Math.ceil((concurrency + prefetch) / Math.max(1, sharing) / turns), MAX_PER_REQUEST);
    this.#reserved += limit;
    return limit;
  }

  /** Gives free room to the shards that wait for it. */
  #share(): void {
    for (const shard of [...this.#waitingShards]) if (this.#pollers[shard]!.isIdle) this.#pollers[shard]!.pump();
  }

  #take(shard: number, claims: readonly Claim[], { nowMs }: SettleAndClaimResult, sentAtMs: number): void {
    const endsAtMs = lapseMs(sentAtMs, this.#settings.visibilityMs);
    const claimedAtMs = this.#place.store.leaseClock();
    let lateMs = 0;
    for (const claim of claims) {
      const message = this.#read(shard, claim);
      if (!message) continue;
      const held: HeldMessage<Payload> = { message, shard, endsAtMs, claimedAtMs, ...NOT_BEGUN };
      this.#held.add(held);
      this.#waiting.push(held);
      lateMs = Math.max(lateMs, this.#emitter.claimed(message, nowMs));
    }
    if (lateMs >= this.#settings.lagAfterMs) this.#emitter.listeners.emit("lag", { lateMs });
    if (this.#closed) this.#releaseWaiting();
    else this.#start();
  }

  /** Reads a claimed message. Bytes that are not a message move to the dead letters; other messages are unaffected. */
  #read(shard: number, claim: Claim): ClaimedMessage<Payload> | undefined {
    try {
      return claimOf<Payload>(claim);
    } catch (cause) {
      const outcome = corruptOutcomeOf(claim, cause);
      const settlement: Settlement = { member: claim.member, deliveries: claim.deliveries, ...outcome };
      const message = { id: outcome.id, attempt: claim.deliveries };
      const error = this.#emitter.at.error(undefined, corruptMessage(this.#place.keys[shard]!, outcome.id, cause));
      this.#emitter.expect(settlement, { message, error, startedAtMs: 0 });
      this.#pollers[shard]!.submit(settlement, true);
      return undefined;
    }
  }

  #start(): void {
    while (this.#running < this.#settings.concurrency && this.#waiting.length > 0) {
      const held = this.#waiting.shift()!;
      if (this.#held.isLost(held)) this.#settle(held, { verb: "release", priority: held.message.priority });
      else {
        this.#running++;
        this.#run(held).catch((error) => this.#emitter.error(error));
      }
    }
  }

  async #run(held: HeldMessage<Payload>): Promise<void> {
    const { message } = held;
    const job = new Job(this.queue.name, message, () => signalOf(held));
    held.startedAtMs = this.#place.store.leaseClock();
    const waitMs = held.startedAtMs - held.claimedAtMs;
    this.#emitter.listeners.emit("started", { id: message.id, attempt: message.attempt, waitMs });
    let outcome: Outcome;
    try {
      await this.#handler(job);
      outcome = { verb: "done" };
    } catch (error) {
      held.error = error;
      this.#emitter.listeners.emit("failed", { id: message.id, attempt: message.attempt, error });
      outcome = outcomeOf(message, error, undefined, this.#settings.attempts);
    }
    this.#running--;
    if (!this.#closed) this.#start();
    this.#settle(held, outcome);
  }

  #settle(held: HeldMessage<Payload>, outcome: Outcome): void {
    const isUrgent = this.#waiting.length === 0;
    const settlement: Settlement = { ...held.message.receipt, ...outcome };
    this.#held.delete(held);
    if (outcome.verb !== "release") this.#emitter.expect(settlement, held);
    this.#pollers[held.shard]!.submit(settlement, isUrgent);
    if (this.#waitingShards.size === 0 || this.#isSharing) return;
    this.#isSharing = true;
    gathering().then(() => {
      this.#isSharing = false;
      this.#share();
    });
  }
}
