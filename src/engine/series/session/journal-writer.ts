import { endsWithRequest } from "../../../base/async/of-request.ts";
import type { RunOptions, Store } from "../../../store/contract.ts";
import { type JournalAnswer, type Known, STATUS } from "../../journal/format/answer.ts";
import { type ChunkSeen, HEADER_BYTES } from "../../journal/format/chunk.ts";
import { constants, VALUE_PAIR } from "../../journal/format/constants.ts";
import type { Frame } from "../../journal/format/frames.ts";
import type { JournalReader } from "../../journal/replica/journal-reader.ts";
import type { Seen, ServerTime } from "../../journal/replica/last-seen.ts";
import { appendAndReadOutlines, type OutlineQuery } from "../../journal/sealed/steps/read-outlines.ts";
import { append } from "../../journal/steps/append.ts";
import { frameOf, type RecordedEvent, type RecordResult, record } from "../../journal/steps/record.ts";
import { rotate } from "../../journal/steps/rotate.ts";
import { failUncertain, refused, unsent } from "../refused.ts";
import type { SeriesSettings } from "../series-options.ts";
import type { Batch } from "./batch.ts";
import { givenUpkeep } from "./given-upkeep.ts";
import type { Sealing } from "./sealing.ts";

/** The store's answer to a batch. Without verdicts, all of it was written. */
export type AppendAnswer = Seen & { verdicts?: Uint8Array; isOnlyCopy?: boolean | undefined };

/** One process as a producer. It numbers its frames, appends them to the open chunk, and closes chunks that are due. */
export class JournalWriter {
  readonly #store: Store;
  readonly #key: string;
  readonly #settings: SeriesSettings;
  readonly #reader: JournalReader;
  readonly #time: ServerTime;
  #producer: number | undefined;
  #sequence = 0;
  /** Appends that are void earlier were refused at the last answer, because they may be older than a delete. */
  #guardedUntilMs = Number.NEGATIVE_INFINITY;
  /** At the last answer the open chunk existed, had no guard and was not too long. */
  #isNormal = false;
  #rotation: Promise<void> | undefined;
  /** Undefined in a Worker, which does nothing after its request. */
  readonly #sealing: Sealing | undefined;

  constructor(store: Store, key: string, settings: SeriesSettings, reader: JournalReader, time: ServerTime) {
    this.#store = store;
    this.#key = key;
    this.#settings = settings;
    this.#reader = reader;
    this.#time = time;
    const upkeep = givenUpkeep();
    if (upkeep && !endsWithRequest)
      this.#sealing = new upkeep.Sealing(store, key, settings.entropy, reader, (header) => this.#close(header));
  }

  /** The event of a batch of one undated event, if the open chunk was in its normal state at the last answer. */
  eventOf(batch: Batch): RecordedEvent | undefined {
    const value = batch.lone;
    const nowMs = this.#time.estimateMs();
    const { valueType, retentionMs, beforeAppend } = this.#settings;
    // The step has no guard of groups.
    if (value === undefined || !this.#isNormal || nowMs === undefined || valueType === VALUE_PAIR || beforeAppend?.())
      return undefined;
    this.#producer ??= this.#begin();
    const sequence = this.#nextSequence();
    return {
      valueType,
      producer: this.#producer,
      sequence,
      value,
      retentionMs,
      voidAfterMs: this.#voidAfterMs(nowMs),
    };
  }

  /** Fast path for one event. Returns undefined if the chunk is not in its normal state; `appendEvent` must follow. */
  record(event: RecordedEvent): Promise<RecordResult | undefined> {
    const { replicas } = this.#settings;
    return this.#store.run(record, this.#key, event, replicas === 0 ? undefined : { replicas });
  }

  /** Follows `record`, of which an earlier attempt without an answer may have been applied. The event counts once. */
  appendEvent(event: RecordedEvent): Promise<JournalAnswer> {
    return this.#append([frameOf(event)], event.voidAfterMs, "none").catch(failUncertain);
  }

  /**
   * Writes a batch and returns the bytes of the open chunk after `known`, or no bytes for "none". With `outlines` the answer has
   * all of the open chunk, and the closed chunks of that window.
   */
  async append(batch: Batch, known: Known | "none", outlines?: OutlineQuery): Promise<JournalAnswer> {
    const waiting = this.#settings.beforeAppend?.();
    if (waiting) await waiting;
    // A Worker saves a request here: its clock is right. A store in memory may have another clock.
    const isByOwnClock = endsWithRequest && outlines !== undefined && this.#store.address !== undefined;
    let nowMs = this.#time.estimateMs();
    if (nowMs === undefined && !isByOwnClock) {
      await this.#learnTime();
      nowMs = this.#time.estimateMs();
    }
    this.#producer ??= this.#begin();
    const frames = batch.frames(this.#producer, () => this.#nextSequence());
    // A wrong time makes the append void, so the event cannot count twice. Its answer has the server's time.
    nowMs ??= Math.floor(Date.now());
    return this.#append(frames, this.#voidAfterMs(nowMs), known, outlines, batch.isDated);
  }

  /**
   * Remembers the state of the open chunk and closes it if it is due, without waiting. If that fails, the next answer
   * tries again.
   */
  see({ header, length, nowMs }: Seen): void {
    this.#isNormal = length > HEADER_BYTES && length < constants.rotateBytes && header?.guardMs === 0;
    this.seeRead(header);
    if (!header || this.#rotation || length <= HEADER_BYTES) return;
    const ageMs = nowMs - header.createdMs;
    const sealing = this.#sealing;
    // Not more than one small chunk a second, because each costs its readers and its sealer the same.
    const isSmall = sealing !== undefined && ageMs >= constants.minChunkMs;
    if (sealing) sealing.appendedMs = this.#store.monotonic();
    // A reader without a copy fetches the open chunk whole, and an outline of each closed one. So a slow stream has small chunks. Due
    // at this product, a retention has 64 × length / minIdleBytes of them, which is about `maxOutlines` for the largest.
    const isDue = length * ageMs >= constants.minIdleBytes * header.chunkMs || length >= constants.sealedRotateBytes;
    if ((isSmall && isDue) || length >= constants.rotateBytes || ageMs >= header.chunkMs) this.#close(header);
    else if (sealing?.isWaiting === false && length >= constants.minIdleBytes) sealing.waitForIdleness();
  }

  /** Remembers the open chunk of a read: the chunk before it is closed. */
  seeRead(header: ChunkSeen | undefined): void {
    if (header && header.number !== this.#sealing?.openNumber) this.#sealing?.opened(header.number);
  }

  /** Closes the chunk without waiting. If that fails, the next answer tries again. */
  #close(header: Pick<ChunkSeen, "number" | "birth">): void {
    const end = () => {
      this.#rotation = undefined;
    };
    const closed = () => this.#sealing?.closed(header.number);
    this.#rotation ??= this.#rotate(header).then(closed).then(end, end);
  }

  /** Waits for a chunk that is being closed. Never rejects. */
  async rotated(): Promise<void> {
    await this.#rotation;
  }

  /** Waits for what runs in the background, and begins no more of it. Never rejects. */
  async close(): Promise<void> {
    await this.#sealing?.close();
    await this.rotated();
  }

  async #append(
    frames: Frame[],
    voidAfterMs: number,
    known: Known | "none",
    outlines?: OutlineQuery,
    isDated = false,
  ): Promise<JournalAnswer> {
    const { valueType, clock, retentionMs, replicas } = this.#settings;
    let input = { valueType, clock, retentionMs, voidAfterMs, birth: this.#drawBirth(), frames, known };
    /** Number of attempts that may have run more than once. */
    let unsure = 0;
    // Only a refusal of dated events needs this number, so other appends create no closure.
    const options: RunOptions = isDated ? { replicas, ranOnce: () => void unsure-- } : { replicas };
    const send = () => {
      unsure++;
      return (
        this.#settings.appending?.(input, options) ??
        (outlines
          ? this.#store.run(appendAndReadOutlines, this.#key, { ...input, known: undefined, query: outlines }, options)
          : this.#store.run(append, this.#key, input, options))
      );
    };
    let answer = await send();
    this.#time.learn(answer);
    let isClosed = false;
    for (;;) {
      this.#guardedUntilMs = answer.guardedUntilMs;
      if (answer.status === STATUS.void && answer.guardedUntilMs > input.voidAfterMs) {
        // The store has refused the frames, because they were built before a delete that this process did not know of. They have not
        // counted. The call has no answer yet, so it is free to follow the delete.
        input = { ...input, voidAfterMs: this.#voidAfterMs(answer.nowMs) };
        answer = await (isClosed ? send().catch(failUncertain) : send());
      } else if (answer.status === STATUS.old && !isClosed) {
        // Of several copies, the first one may have been written before the chunk was too old. The next chunk has the guard of a delete.
        answer = await this.#rotate(answer.header!).then(send).catch(failUncertain);
        isClosed = true;
      } else break;
    }
    if (answer.status !== STATUS.done) throw refused(answer, valueType);
    if (isDated) answer.isOnlyCopy = unsure === 0;
    return answer;
  }

  #voidAfterMs(nowMs: number): number {
    return Math.max(nowMs + constants.voidAfterMs, this.#guardedUntilMs);
  }

  /** Precedes an append. If it fails, the append was not sent. */
  async #learnTime(): Promise<void> {
    try {
      this.#time.learn(await this.#reader.open("header"));
    } catch (error) {
      throw unsent(error);
    }
  }

  async #rotate({ number, birth }: Pick<ChunkSeen, "number" | "birth">): Promise<void> {
    await this.#store.run(rotate, this.#key, { number, birth, nextBirth: this.#drawBirth() });
  }

  #begin(): number {
    this.#sequence = this.#settings.entropy();
    return this.#settings.entropy();
  }

  /** Never 0, which means "no chunk before". */
  #drawBirth(): number {
    return this.#settings.entropy() || 1;
  }

  #nextSequence(): number {
    this.#sequence = (this.#sequence + 1) >>> 0;
    return this.#sequence;
  }
}
