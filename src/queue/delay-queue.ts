import { argumentError, checkKnown, wholeNumber } from "../errors.ts";
import { type Place, placeOf } from "../place.ts";
import type { Store } from "../store/contract.ts";
import type { Duration } from "../time.ts";
import { Adder } from "./adder.ts";
import { DeadLetters } from "./dead-letters.ts";
import { packEnvelope } from "./format/envelope.ts";
import { layoutText, MOST_WHOLE, shardOf, timesKeys } from "./format/layout.ts";
import type { When } from "./format/when.ts";
import { HandClaims } from "./hand-claims.ts";
import type { Job } from "./job.ts";
import { messageOf, type QueuedMessage } from "./message.ts";
import {
  type AddMessageOptions,
  checkId,
  type DelayQueueOptions,
  messageSettings,
  type QueueSettings,
  queueSettings,
  whenOf,
} from "./options.ts";
import type { NewMessage } from "./steps/add.ts";
import { type Census, census } from "./steps/census.ts";
import { look } from "./steps/look.ts";
import { move } from "./steps/move.ts";
import { pause } from "./steps/pause.ts";
import { inOrder, peek } from "./steps/peek.ts";
import { TIMERS, type Timers } from "./timers.ts";
import type { ClaimedMessage } from "./worker/claimed.ts";
import { QueueWorker } from "./worker/worker.ts";
import type { WorkerOptions } from "./worker/worker-options.ts";

export interface Added {
  id: string;
  /** False where a message of this id waits, is claimed or dead, or was added less than `dedupeFor` ago: it is left as it is. So it may be by this very call, where a reply was lost. */
  isNew: boolean;
}

/**
 * Messages that are due later, shared by all processes of a store: each is handled at least once, when the server's clock
 * says so, by one of the workers. Of all that is due the highest priority comes first, then by time and order of adding; with
 * several shards each has its own order. A message is claimed for a while (`visibility`): of who did not come back in time the next
 * one takes it over, and what the first one says later is refused.
 */
export class DelayQueue<Payload = unknown> {
  readonly name: string;
  readonly dead: DeadLetters<Payload>;
  readonly #store: Store;
  readonly #keys: readonly string[];
  readonly #layout: string;
  readonly #settings: QueueSettings;
  readonly #adders: readonly Adder[];
  readonly #timers: Timers;
  readonly #hand: HandClaims<Payload>;
  readonly #place: Place;

  /** Throws ARGUMENT for a wrong name or option. Nothing is sent yet. */
  constructor(store: Store, name: string, options: DelayQueueOptions = {}, timers: Timers = TIMERS) {
    this.#place = placeOf("DelayQueue", store, name);
    this.name = name;
    this.#settings = this.#place.checked(undefined, () => queueSettings(options));
    const { shards, replicas, dedupeMs } = this.#settings;
    this.#store = store;
    this.#keys = timesKeys(store, name, shards);
    this.#layout = layoutText(shards);
    this.#adders = this.#keys.map((key) => new Adder(store, key, this.#layout, replicas));
    this.#timers = timers;
    this.dead = new DeadLetters(store, this.#keys, this.#layout, this.#place);
    this.#hand = new HandClaims(store, this.#keys, this.#layout, dedupeMs);
  }

  /**
   * Adds a message: bytes, or what JSON can say, up to 512 KiB. Resolves when the store has it. May be called again with the
   * same `id` after any failure.
   */
  add(payload: Payload, options: AddMessageOptions = {}): Promise<Added> {
    return this.#at("add", () => this.#send(this.#check(payload, options)));
  }

  /** Adds many, in order. All are checked before any is sent; where a part fails, it rejects with the first reason. */
  addBulk(messages: readonly ({ payload: Payload } & AddMessageOptions)[]): Promise<Added[]> {
    return this.#at("addBulk", () => this.#addBulk(messages));
  }

  async #addBulk(messages: readonly ({ payload: Payload } & AddMessageOptions)[]): Promise<Added[]> {
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
    const { id, when, ...rest } = messageSettings(options, this.#settings);
    return { id, when, envelope: packEnvelope({ ...rest, payload }), isOurId: options.id === undefined };
  }

  /** Nobody else has an id of ours: if it is known, a call before whose reply was lost has added it. */
  async #send({ isOurId, ...message }: NewMessage & { isOurId: boolean }): Promise<Added> {
    const isAdded = await this.#adders[this.#shardOf(message.id)]!.add(message);
    return { id: message.id, isNew: isAdded || isOurId };
  }

  /** Whether the message was there, waiting or dead, and is no more; false too while it is claimed. Its id is new at once. */
  cancel(id: string): Promise<boolean> {
    return this.#at("cancel", () => this.#move(id, undefined));
  }

  /** Whether the message waited, and now does until then; false while it is claimed, or dead. */
  reschedule(id: string, when: { delay?: Duration; at?: number | Date }): Promise<boolean> {
    return this.#at("reschedule", () => {
      checkKnown(when, ["delay", "at"]);
      if (when.delay === undefined && when.at === undefined) throw argumentError("when", when, "a delay, or at");
      return this.#move(id, whenOf(when));
    });
  }

  async #move(id: string, when: When | undefined): Promise<boolean> {
    return (await this.#store.run(move, this.#keyOf(checkId(id)), { layout: this.#layout, id, when })) === "moved";
  }

  /** The message, or undefined where there is none, or it is done. */
  get(id: string): Promise<QueuedMessage<Payload> | undefined> {
    const found = async () => {
      const found = await this.#store.run(look, this.#keyOf(checkId(id)), { layout: this.#layout, id });
      return found && messageOf<Payload>(id, found);
    };
    return this.#at("get", found, "no");
  }

  /** Messages that wait, are due, claimed and dead: of each shard at one instant. */
  counts(): Promise<Census> {
    return this.#at("counts", () => this.#counts(), "no");
  }

  async #counts(): Promise<Census> {
    const all = await this.#each((key) => this.#store.run(census, key, { layout: this.#layout }));
    const sum = (of: "waiting" | "due" | "claimed" | "dead") => all.reduce((count, each) => count + each[of], 0);
    const isPaused = all.some((each) => each.isPaused);
    return { waiting: sum("waiting"), due: sum("due"), claimed: sum("claimed"), dead: sum("dead"), isPaused };
  }

  /**
   * Up to `limit` (1 to 256, default 10) messages that wait, in the order in which they would be claimed if no other came; of
   * large ones as many as are 1 MiB in each shard.
   */
  peek(options: { limit?: number } = {}): Promise<QueuedMessage<Payload>[]> {
    return this.#at("peek", () => this.#peek(options), "no");
  }

  async #peek(options: { limit?: number }): Promise<QueuedMessage<Payload>[]> {
    checkKnown(options, ["limit"]);
    const most = wholeNumber("limit", options.limit === undefined ? 10 : options.limit, 1, MOST_WHOLE);
    const shards = await this.#each((key) => this.#store.run(peek, key, { layout: this.#layout, most }));
    return inOrder(shards)
      .slice(0, most)
      .map((each) => messageOf<Payload>(each.id, each));
  }

  /** From then on nothing is claimed, by any process; what is claimed goes on. */
  pause(): Promise<void> {
    return this.#at("pause", () => this.#pause(true));
  }

  resume(): Promise<void> {
    return this.#at("resume", () => this.#pause(false));
  }

  async #pause(isPaused: boolean): Promise<void> {
    await this.#each((key) => this.#store.run(pause, key, { layout: this.#layout, isPaused }));
  }

  /**
   * Has a handler process what is due until the worker is closed. A message is done when the handler returns, and comes
   * again after its backoff when it throws.
   */
  process(handler: (job: Job<Payload>) => unknown, options: WorkerOptions = {}): QueueWorker<Payload> {
    const { dedupeMs } = this.#settings;
    const place = { store: this.#store, keys: this.#keys, layout: this.#layout, dedupeMs };
    return new QueueWorker(place, this.name, handler, options, this.#timers);
  }

  /**
   * Claims up to `limit` (1 to 1000, default 1) messages that are due, by hand, for `visibility` (default 30 s, at most a day).
   * What is corrupt goes to the dead letters, and others come in its place.
   */
  claim(options: { limit?: number; visibility?: Duration } = {}): Promise<ClaimedMessage<Payload>[]> {
    return this.#at("claim", () => this.#hand.claim(options));
  }

  /** Whether the message is done; false where it is claimed by another delivery, or no more there. */
  ack(message: ClaimedMessage<Payload>): Promise<boolean> {
    return this.#at("ack", () => this.#hand.ack(message));
  }

  /** Whether the message comes again, after `delay` (default: its backoff), or is dead after its last delivery. */
  nack(message: ClaimedMessage<Payload>, options: { delay?: Duration; error?: unknown } = {}): Promise<boolean> {
    return this.#at("nack", () => this.#hand.nack(message, options));
  }

  /** Whether the message stays claimed for so long from now: 1 ms to a day. */
  extend(message: ClaimedMessage<Payload>, visibility: Duration): Promise<boolean> {
    return this.#at("extend", () => this.#hand.extend(message, visibility));
  }

  /** What `run` gives; what it rejects with is told from here. `applied`: "no" for a question. */
  #at<T>(operation: string, run: () => T | Promise<T>, applied?: "no"): Promise<T> {
    return this.#place.run(operation, run, applied);
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
