import { inThisContext } from "../../base/async/context.ts";
import { type Deferred, deferred } from "../../base/async/deferred.ts";
import { gathering } from "../../base/async/gathering.ts";
import type { Timers } from "../../base/async/timers.ts";
import { argumentError } from "../../base/errors.ts";
import { type SettingsOf, settingsOf } from "../../base/options.ts";
import { Site } from "../../base/site.ts";
import type { Clock } from "../../base/time.ts";
import type { Store } from "../../store/contract.ts";
import { addLive } from "../../store/registry/live.ts";
import { type ClaimedMessage, claimOf, corruptMessage, corruptOutcomeOf, Job, outcomeOf } from "../job.ts";
import type { Claim, Outcome, SettleAndClaimResult, Settlement } from "../steps/settle-and-claim.ts";
import {
  type HeldMessage,
  HeldMessages,
  interrupt,
  isInterruption,
  lapseMs,
  type OwnMessages,
  signalOf,
} from "./held-messages.ts";
import { MAX_PER_REQUEST, ShardPoller } from "./shard-poller.ts";
import { WorkerEmitter, type WorkerEvents } from "./worker-emitter.ts";
import { CLOSE, type CloseOptions, type UnfinishedMessage, WORKER, type WorkerOptions } from "./worker-options.ts";

interface QueueTarget {
  store: Store;
  keys: readonly string[];
  layout: string;
  dedupeMs: number;
  ownMessages: OwnMessages;
}

const NOT_BEGUN = {
  ...{ controller: undefined, loss: undefined, againMs: undefined, isEnded: false, isDead: false },
  ...{ interruption: undefined, startedAtMs: 0, error: undefined, own: undefined },
};

/** Passes due messages to a handler, several at a time, until it is closed. Created by `DelayQueue.process`. */
export class QueueWorker<Payload = unknown> {
  readonly #target: QueueTarget;
  /** The queue that it works for. The worker keeps it, so that its metrics last as long as the worker. */
  readonly queue: { readonly name: string };
  readonly #handler: (job: Job<Payload>) => unknown;
  readonly #settings: SettingsOf<typeof WORKER>;
  readonly #emitter: WorkerEmitter;
  readonly #pollers: readonly ShardPoller[];
  readonly #room: Room;
  /** Messages that wait for a handler or are in one. */
  readonly #held: HeldMessages<Payload>;
  #waiting: HeldMessage<Payload>[] = [];
  #running = 0;
  #closed: Promise<void> | undefined;
  #closing: Closing | undefined;
  readonly #timers: Timers;
  /** Messages that were given back while their handlers ran. */
  readonly #unfinished: UnfinishedMessage[] = [];
  readonly #onAbort = () => {
    this.close().catch((error) => this.#emitter.error(error));
  };

  /** Throws ARGUMENT for a wrong option. */
  constructor(
    target: QueueTarget,
    queue: { readonly name: string },
    handler: (job: Job<Payload>) => unknown,
    options: WorkerOptions,
    timers: Timers,
  ) {
    const at = new Site("QueueWorker", queue.name, target.store);
    this.#emitter = new WorkerEmitter(at, target.store, target.ownMessages);
    this.#settings = at.checked(undefined, () => {
      if (typeof handler !== "function") throw argumentError("handler", handler, "a function");
      return settingsOf(WORKER, options);
    });
    this.#target = target;
    this.queue = queue;
    this.#handler = inThisContext((job) => this.#emitter.at.traced("handle", async () => handler(job)));
    this.#timers = timers;
    const { store, keys, layout, dedupeMs } = target;
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
          reserve: (turns) => (this.#closing ? 0 : this.#room.reserve(shard, turns)),
          release: (count) => this.#room.release(count),
          onClaims: (claims, answer, sentAtMs) => this.#take(shard, claims, answer, sentAtMs),
          onExhausted: (exhausted) => this.#emitter.died(exhausted, this.#held),
          onSettled: (settlement, status, isRetry) => this.#emitter.end(settlement, status, isRetry),
          onPolled: () => {
            this.#room.share();
            this.#closing?.check();
          },
          onError,
        }),
    );
    const { concurrency, prefetch } = this.#settings;
    this.#room = new Room(concurrency + prefetch, () => this.#held.size, this.#pollers);
    addLive(store, "QueueWorker", queue.name, this);
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
  close(): Promise<void>;
  /**
   * The same, but ends even if a handler does not. The signals of running handlers abort at once, with an AbortError. A
   * handler that throws because of it has not failed: its message is due at once, and the delivery does not count. If a
   * handler still runs after `within`, its message is given back too, and what the handler does later has no effect.
   * Resolves to these messages. Their handlers cannot be ended, so another worker may handle them at the same time. The
   * end takes `within`, and up to two deadlines of the store. Of several calls the earliest end counts. Rejects with
   * ARGUMENT.
   */
  close(options: CloseOptions): Promise<UnfinishedMessage[]>;
  close(options: CloseOptions = {}): Promise<unknown> {
    return this.#emitter.at.run("close", async () => {
      const { withinMs } = settingsOf(CLOSE, options);
      this.#closed ??= this.#close();
      if (withinMs < Number.POSITIVE_INFINITY) {
        for (const held of this.#held) interrupt(held);
        this.#closing!.endWithin(withinMs);
      }
      await this.#closed;
      return [...this.#unfinished];
    });
  }

  async #close(): Promise<void> {
    this.#settings.signal?.removeEventListener("abort", this.#onAbort);
    const { store } = this.#target;
    for (const turns of this.#pollers) turns.stopClaiming();
    this.#closing = new Closing({
      pollers: this.#pollers,
      timers: this.#timers,
      clock: store.leaseClock,
      isRunning: () => this.#running > 0,
      giveBack: () => this.#giveBack(),
    });
    this.#releaseWaiting();
    this.#closing.check();
    await this.#closing.ended;
    this.#held.close();
    for (const turns of this.#pollers) turns.close();
    this.#emitter.abandonAll();
  }

  #giveBack(): void {
    const nowMs = this.#target.store.leaseClock();
    for (const held of this.#held) {
      const { id, attempt } = held.message;
      this.#unfinished.push({ id, attempt, durationMs: nowMs - held.startedAtMs });
      this.#end(held, { verb: "release", priority: held.message.priority });
    }
  }

  #releaseWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const held of waiting) this.#settle(held, { verb: "release", priority: held.message.priority });
  }

  #take(shard: number, claims: readonly Claim[], { nowMs }: SettleAndClaimResult, sentAtMs: number): void {
    const endsAtMs = lapseMs(sentAtMs, this.#settings.visibilityMs);
    const claimedAtMs = this.#target.store.leaseClock();
    let lateMs = 0;
    for (const claim of claims) {
      const message = this.#read(shard, claim);
      if (!message) continue;
      const sizeBytes = claim.envelope.length;
      const held: HeldMessage<Payload> = { message, shard, endsAtMs, claimedAtMs, ...NOT_BEGUN, sizeBytes };
      this.#held.add(held);
      this.#waiting.push(held);
      lateMs = Math.max(lateMs, this.#emitter.claimed(message, nowMs));
    }
    if (lateMs >= this.#settings.lagAfterMs) this.#emitter.listeners.emit("lag", { lateMs });
    if (this.#closing) this.#releaseWaiting();
    else this.#start();
  }

  /** Reads a claimed message. Bytes that are not a message move to the dead letters; other messages are unaffected. */
  #read(shard: number, claim: Claim): ClaimedMessage<Payload> | undefined {
    try {
      return claimOf<Payload>(claim);
    } catch (cause) {
      const outcome = corruptOutcomeOf(claim, cause);
      const settlement: Settlement = { member: claim.member, deliveries: claim.deliveries, ...outcome };
      const message = { id: outcome.id, attempt: claim.deliveries, receipt: claim };
      const error = this.#emitter.at.error(undefined, corruptMessage(this.#target.keys[shard]!, outcome.id, cause));
      this.#emitter.expect(settlement, { message, error, startedAtMs: 0, own: undefined, isDead: false });
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
    held.own = this.#target.ownMessages.begin(message.id);
    const again = (delayMs: number) => {
      held.againMs = delayMs;
      return !held.isEnded;
    };
    const job = new Job(this.queue.name, message, { signal: () => signalOf(held), again });
    held.startedAtMs = this.#target.store.leaseClock();
    const waitMs = held.startedAtMs - held.claimedAtMs;
    this.#emitter.listeners.emit("started", { id: message.id, attempt: message.attempt, waitMs });
    let outcome: Outcome;
    try {
      await this.#handler(job);
      outcome = endOf(held);
    } catch (error) {
      if (held.isEnded) return;
      outcome = this.#failed(held, error);
    }
    if (!held.isEnded) this.#end(held, outcome);
  }

  #failed(held: HeldMessage<Payload>, error: unknown): Outcome {
    const { message } = held;
    if (isInterruption(held, error)) return { verb: "release", priority: message.priority };
    held.error = error;
    this.#emitter.listeners.emit("failed", { id: message.id, attempt: message.attempt, error });
    return outcomeOf(message, error, held.againMs, this.#settings.attempts);
  }

  /** Ends the delivery: the handler has ended, or its message is given back. */
  #end(held: HeldMessage<Payload>, outcome: Outcome): void {
    held.isEnded = true;
    this.#running--;
    if (!this.#closing) this.#start();
    this.#settle(held, outcome);
  }

  #settle(held: HeldMessage<Payload>, outcome: Outcome): void {
    const isUrgent = this.#waiting.length === 0;
    const settlement: Settlement = { ...held.message.receipt, ...outcome };
    this.#held.delete(held);
    if (held.own) this.#emitter.expect(settlement, held);
    this.#pollers[held.shard]!.submit(settlement, isUrgent);
    this.#room.shareSoon();
  }
}

/** The result for a message whose handler has returned. */
function endOf({ message, againMs, sizeBytes }: HeldMessage<unknown>): Outcome {
  if (againMs === undefined) return { verb: "done" };
  return { verb: "again", delayMs: againMs, priority: message.priority, sizeBytes };
}

/** The messages that a worker may hold, shared equally among its shards. */
export class Room {
  readonly #size: number;
  readonly #heldCount: () => number;
  readonly #pollers: readonly ShardPoller[];
  /** Shards that wait for room, the longest wait first. */
  readonly #waitingShards = new Set<number>();
  #reserved = 0;
  #isSharing = false;

  constructor(size: number, heldCount: () => number, pollers: readonly ShardPoller[]) {
    this.#size = size;
    this.#heldCount = heldCount;
    this.#pollers = pollers;
  }

  /** Reserves room for one of a shard's `turns`: an equal part of the room left after shards that already wait. */
  reserve(shard: number, turns: number): number {
    let room = this.#size - this.#heldCount() - this.#reserved;
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
    const limit = Math.min(room, Math.ceil(this.#size / Math.max(1, sharing) / turns), MAX_PER_REQUEST);
    this.#reserved += limit;
    return limit;
  }

  release(count: number): void {
    this.#reserved -= count;
  }

  /** Gives free room to the shards that wait for it. */
  share(): void {
    for (const shard of [...this.#waitingShards]) if (this.#pollers[shard]!.isIdle) this.#pollers[shard]!.pump();
  }

  /** The same, once for all results of this turn of the event loop. */
  shareSoon(): void {
    if (this.#waitingShards.size === 0 || this.#isSharing) return;
    this.#isSharing = true;
    gathering().then(() => {
      this.#isSharing = false;
      this.share();
    });
  }
}

const LAST_TRIES = 5;

export interface ClosingOptions {
  pollers: readonly ShardPoller[];
  timers: Timers;
  clock: Clock;
  isRunning(): boolean;
  /** Gives the messages of running handlers back. */
  giveBack(): void;
}

/** The end of a worker: it waits for running handlers, and until each shard has all results or has failed for too long. */
export class Closing {
  readonly #options: ClosingOptions;
  readonly #ended: Deferred<void> = deferred();
  /** A shard with this number of failures is given up. */
  #maxFailures: readonly number[];
  #endAtMs = Number.POSITIVE_INFINITY;
  #cancelTimer: (() => void) | undefined;

  constructor(options: ClosingOptions) {
    this.#options = options;
    this.#maxFailures = options.pollers.map(({ failures }) => failures + LAST_TRIES);
  }

  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Called when a request or handler has ended. */
  check(): void {
    const { pollers, isRunning } = this.#options;
    if (isRunning() || !pollers.every((each, i) => each.isIdle || each.failures >= this.#maxFailures[i]!)) return;
    this.#endAtMs = Number.NEGATIVE_INFINITY;
    this.#cancelTimer?.();
    this.#ended.resolve();
  }

  /** Gives messages back when the time is over. Then each shard has one more try. */
  endWithin(ms: number): void {
    const { timers, clock } = this.#options;
    const atMs = clock() + ms;
    if (atMs >= this.#endAtMs) return;
    this.#endAtMs = atMs;
    this.#cancelTimer?.();
    this.#cancelTimer = timers.after(ms, () => {
      const { pollers, giveBack } = this.#options;
      giveBack();
      this.#maxFailures = pollers.map(({ failures }, i) => Math.min(this.#maxFailures[i]!, failures + 1));
      this.check();
    });
  }
}
