import { Coalescer } from "../base/async/coalescer.ts";
import { type Deferred, deferred } from "../base/async/deferred.ts";
import { afterGathering } from "../base/async/gathering.ts";
import { TIMERS, type Timers } from "../base/async/timers.ts";
import { argumentError, wholeNumber } from "../base/errors.ts";
import { settingsOf } from "../base/options.ts";
import { type Site, siteOf } from "../base/site.ts";
import type { Duration } from "../base/time.ts";
import type { Store } from "../store/contract.ts";
import { register } from "../store/registry/register.ts";
import { Agreement } from "./agreement.ts";
import { DeadLetters } from "./dead-letters.ts";
import { packEnvelope } from "./format/envelope.ts";
import { type DueTime, layoutText, MAX_FULL_MESSAGES, shardOf, timesKeys } from "./format/layout.ts";
import type { ClaimedMessage, Job } from "./job.ts";
import { ManualClaims } from "./manual-claims.ts";
import { messageOf, type QueuedMessage } from "./message.ts";
import {
  type AddMessageOptions,
  type AnnouncedQueue,
  type ClaimOptions,
  checkId,
  type DelayQueueOptions,
  dueTimeOf,
  messageSchema,
  type NackOptions,
  QUEUE,
  WHEN,
} from "./options.ts";
import { add, type NewMessage } from "./steps/add.ts";
import { get, move } from "./steps/messages.ts";
import { counts, inOrder, pause, peek, type QueueCounts, totalOf } from "./steps/shards.ts";
import { OwnMessages } from "./worker/held-messages.ts";
import { QueueWorker } from "./worker/worker.ts";
import type { WorkerOptions } from "./worker/worker-options.ts";

/**
 * A delayed message queue, shared by all processes of a store. Each message is handled at least once, by one worker,
 * when it is due by the server's clock. Due messages are claimed by priority (highest first), then by time and order of
 * adding; each shard has its own order. A claim lasts for `visibility`. After it lapses, another worker may claim the
 * message, and later results of the first worker are refused.
 */
export class DelayQueue<Payload = unknown> {
  readonly name: string;
  readonly dead: DeadLetters<Payload>;
  readonly #store: Store;
  readonly #keys: readonly string[];
  readonly #layout: string;
  readonly #message: ReturnType<typeof messageSchema>;
  readonly #dedupeMs: number;
  readonly #agreement: Agreement;
  readonly #adders: readonly AddCoalescer[];
  readonly #timers: Timers;
  readonly #manual: ManualClaims<Payload>;
  readonly #site: Site;
  readonly #ownMessages: OwnMessages;

  /** Throws ARGUMENT for a wrong name or option. Sends nothing to the store yet. */
  constructor(store: Store, name: string, options?: DelayQueueOptions);
  /** @internal Tests pass timers that they step. */
  constructor(store: Store, name: string, options?: DelayQueueOptions, timers?: Timers);
  constructor(store: Store, name: string, options: DelayQueueOptions = {}, timers: Timers = TIMERS) {
    this.#site = siteOf("DelayQueue", store, name);
    this.name = name;
    const settings = this.#site.checked(undefined, () => settingsOf(QUEUE, options));
    const { shards, replicas, dedupeForMs, attempts } = settings;
    this.#message = messageSchema(settings);
    this.#dedupeMs = dedupeForMs;
    this.#store = store;
    this.#keys = timesKeys(store, name, shards);
    this.#layout = layoutText(shards);
    const target = { store, name, layout: this.#layout, replicas };
    this.#agreement = new Agreement(target, shards);
    this.#adders = this.#keys.map((key) => new AddCoalescer({ ...target, key }, this.#agreement));
    this.#timers = timers;
    this.#ownMessages = new OwnMessages(this.#site);
    this.dead = new DeadLetters(store, this.#keys, this.#layout, this.#site);
    this.#manual = new ManualClaims(store, this.#keys, this.#layout, dedupeForMs);
    const own: AnnouncedQueue = { attempts, replicas, dedupeFor: dedupeForMs };
    register(store, "DelayQueue", name, this, { shards }, own);
  }

  /**
   * Adds a message. The payload is bytes or a JSON value, up to 512 KiB. Resolves when the store has the message. After
   * any failure the call can be repeated with the same `id`.
   */
  add(payload: Payload, options: AddMessageOptions = {}): Promise<AddResult> {
    return this.#at("add", () => this.#send(this.#check(payload, options)));
  }

  /** Adds several messages in order. All are checked before any is sent. If some fail, rejects with the first error. */
  addBulk(messages: readonly ({ payload: Payload } & AddMessageOptions)[]): Promise<AddResult[]> {
    return this.#at("addBulk", () => this.#addBulk(messages));
  }

  async #addBulk(messages: readonly ({ payload: Payload } & AddMessageOptions)[]): Promise<AddResult[]> {
    if (!Array.isArray(messages)) throw argumentError("messages", messages, "an array");
    const checked = (messages as readonly ({ payload: Payload } & AddMessageOptions)[]).map((message) => {
      if (message === null || typeof message !== "object") throw argumentError("message", message, "an object");
      const { payload, ...options } = message;
      return this.#check(payload, options);
    });
    const added = await Promise.allSettled(checked.map((each) => this.#send(each)));
    return added.map((each) => {
      if (each.status === "rejected") throw each.reason;
      return each.value;
    });
  }

  #check(payload: Payload, options: AddMessageOptions): NewMessage & { isOurId: boolean } {
    const { delayMs, at, id, ...rest } = settingsOf(this.#message, options);
    return {
      id,
      when: dueTimeOf({ delayMs, at }),
      envelope: packEnvelope({ ...rest, payload }),
      isOurId: options.id === undefined,
    };
  }

  /**
   * A generated id is unique. If the store knows it, an earlier attempt of this call added it and its reply was lost.
   */
  async #send({ isOurId, ...message }: NewMessage & { isOurId: boolean }): Promise<AddResult> {
    const own = this.#ownMessages.get(message.id);
    const isAdded = await this.#adders[this.#shardOf(message.id)]!.add(message);
    if (own && !isAdded) this.#ownMessages.refuse(own, "add");
    return { id: message.id, isNew: isAdded || isOurId };
  }

  /** Removes a waiting or dead message and frees its id. Returns false if there is none, or while it is claimed. */
  cancel(id: string): Promise<boolean> {
    return this.#at("cancel", () => this.#move(id, undefined));
  }

  /** Changes when a waiting message is due. Returns false if there is none, or while it is claimed or dead. */
  reschedule(id: string, when: { delay?: Duration | undefined; at?: number | Date | undefined }): Promise<boolean> {
    return this.#at("reschedule", () => {
      const given = settingsOf(WHEN, when);
      if (given.delayMs === null && given.at === undefined)
        throw argumentError("when", when, "an object with delay or at");
      return this.#reschedule(id, dueTimeOf(given));
    });
  }

  async #reschedule(id: string, when: DueTime): Promise<boolean> {
    const own = this.#ownMessages.get(id);
    const isMoved = await this.#move(id, when);
    if (own && !isMoved) this.#ownMessages.refuse(own, "reschedule");
    return isMoved;
  }

  async #move(id: string, when: DueTime | undefined): Promise<boolean> {
    return (await this.#store.run(move, this.#keyOf(checkId(id)), { layout: this.#layout, id, when })) === "moved";
  }

  /** Returns the message, or undefined if there is none or it is done. */
  get(id: string): Promise<QueuedMessage<Payload> | undefined> {
    const found = async () => {
      const found = await this.#store.run(get, this.#keyOf(checkId(id)), { layout: this.#layout, id });
      return found && messageOf<Payload>(id, found);
    };
    return this.#at("get", found, "no");
  }

  /** Counts the waiting, due, claimed and dead messages. The counts of one shard are of one instant. */
  counts(): Promise<QueueCounts> {
    return this.#at("counts", async () => totalOf(await this.#countEach()), "no");
  }

  #countEach() {
    return this.#each((key) => this.#store.run(counts, key, { layout: this.#layout }));
  }

  /** Returns how long the oldest due message has been due, in ms; 0 if none is due. */
  lag(): Promise<number> {
    return this.#at("lag", async () => Math.max(...(await this.#countEach()).map(({ lagMs }) => lagMs)), "no");
  }

  /**
   * Returns up to `limit` (1 to 256, default 10) waiting messages in the order of claiming, as if no others were added.
   * Each shard returns at most 1 MiB, or one larger message.
   */
  peek(options: { limit?: number | undefined } = {}): Promise<QueuedMessage<Payload>[]> {
    return this.#at("peek", () => this.#peek(options), "no");
  }

  async #peek(options: { limit?: number | undefined }): Promise<QueuedMessage<Payload>[]> {
    const { limit } = settingsOf({ limit: [wholeNumber, 10, 1, MAX_FULL_MESSAGES] }, options);
    const shards = await this.#each((key) => this.#store.run(peek, key, { layout: this.#layout, limit }));
    return inOrder(shards)
      .slice(0, limit)
      .map((each) => messageOf<Payload>(each.id, each));
  }

  /** Pauses claiming in all processes. Messages that are already claimed are still processed. */
  pause(): Promise<void> {
    return this.#at("pause", () => this.#pause(true));
  }

  /** Lets workers claim messages again after `pause`. */
  resume(): Promise<void> {
    return this.#at("resume", () => this.#pause(false));
  }

  async #pause(isPaused: boolean): Promise<void> {
    if (!this.#agreement.isReached) await this.#agreement.reach();
    await this.#each((key) => this.#store.run(pause, key, { layout: this.#layout, isPaused }));
  }

  /**
   * Starts a worker that calls `handler` with due messages until it is closed. A message is done when the handler
   * returns. If it throws, the message is retried after its backoff. If it throws a DoNotRetryError, the message is dead.
   */
  process(handler: (job: Job<Payload>) => unknown, options: WorkerOptions = {}): QueueWorker<Payload> {
    const shared = { store: this.#store, keys: this.#keys, layout: this.#layout, ownMessages: this.#ownMessages };
    const target = { ...shared, dedupeMs: this.#dedupeMs };
    return new QueueWorker(target, this, handler, options, this.#timers);
  }

  /**
   * Claims up to `limit` (1 to 1000, default 1) due messages without a worker, for `visibility` (default 30 s, at most
   * a day). Corrupt messages move to the dead letters and are replaced by other due messages.
   */
  claim(options: ClaimOptions = {}): Promise<ClaimedMessage<Payload>[]> {
    return this.#at("claim", () => this.#manual.claim(options));
  }

  /** Marks a claimed message as done. Returns false if another delivery has claimed it, or it is gone. */
  ack(message: ClaimedMessage<Payload>): Promise<boolean> {
    return this.#at("ack", () => this.#manual.ack(message));
  }

  /**
   * Reports a failed delivery. The message is retried after `delay` (default: its backoff), or is dead after its last
   * delivery or if `error` is a DoNotRetryError. Returns false if another delivery has claimed it, or it is gone.
   */
  nack(message: ClaimedMessage<Payload>, options: NackOptions = {}): Promise<boolean> {
    return this.#at("nack", () => this.#manual.nack(message, options));
  }

  /**
   * Keeps a message claimed for `visibility` from now: 1 ms to a day. Returns false if this delivery no longer holds
   * it.
   */
  extend(message: ClaimedMessage<Payload>, visibility: Duration): Promise<boolean> {
    return this.#at("extend", () => this.#manual.extend(message, visibility));
  }

  /** Runs `run`; errors are reported as errors of `operation`. `applied`: "no" for an operation that only reads. */
  #at<T>(operation: string, run: () => T | Promise<T>, applied?: "no"): Promise<T> {
    return this.#site.run(operation, run, applied);
  }

  #each<T>(run: (key: string) => Promise<T>): Promise<T[]> {
    return Promise.all(this.#keys.map(run));
  }

  #shardOf(id: string): number {
    return shardOf(id, this.#keys.length);
  }

  #keyOf(id: string): string {
    return this.#keys[this.#shardOf(id)]!;
  }
}

const MAX_TOGETHER = 256;
const MAX_BATCH_BYTES = 2 ** 18;

interface AddTarget {
  readonly store: Store;
  readonly key: string;
  readonly layout: string;
  readonly replicas: number;
}

interface Batch {
  messages: NewMessage[];
  /** One for each message: whether it was added. */
  outcomes: Deferred<boolean>[];
  sizeBytes: number;
}

/** What `DelayQueue.add` did. */
export interface AddResult {
  id: string;
  /**
   * False if a message with this id waits, is claimed or dead, or was added less than `dedupeFor` ago. That message
   * stays unchanged. After a lost reply, this same call may have added it.
   */
  isNew: boolean;
}

/** Collects the messages added in one turn of the event loop, and sends them to their shard in few steps, in order. */
export class AddCoalescer {
  readonly #target: AddTarget;
  readonly #agreement: Agreement;
  readonly #coalescer = new Coalescer<Batch>({
    schedule: afterGathering,
    begin: () => ({ messages: [], outcomes: [], sizeBytes: 0 }),
    send: (batch) => this.#send(batch),
  });

  constructor(target: AddTarget, agreement: Agreement) {
    this.#target = target;
    this.#agreement = agreement;
  }

  /** Resolves to true if the message was added, to false if its id was known. */
  add(message: NewMessage): Promise<boolean> {
    const batch = this.#coalescer.open();
    const outcome = deferred<boolean>();
    batch.messages.push(message);
    batch.outcomes.push(outcome);
    batch.sizeBytes += message.envelope.length + message.id.length;
    if (batch.messages.length >= MAX_TOGETHER || batch.sizeBytes >= MAX_BATCH_BYTES) this.#coalescer.flush();
    return outcome.promise;
  }

  #send(batch: Batch): void {
    if (this.#agreement.isReached) this.#run(batch);
    else
      this.#agreement.reach().then(
        () => this.#run(batch),
        (error) => fail(batch, error),
      );
  }

  #run(batch: Batch): void {
    const { messages, outcomes } = batch;
    const { store, key, layout, replicas } = this.#target;
    store.run(add, key, { layout, messages }, replicas > 0 ? { replicas } : {}).then(
      (isAdded) => {
        for (const [i, { resolve }] of outcomes.entries()) resolve(isAdded[i]!);
      },
      (error) => fail(batch, error),
    );
  }
}

function fail({ outcomes }: Batch, error: unknown): void {
  for (const { reject } of outcomes) reject(error);
}
