import { OrielError } from "../errors.ts";
import type { Store } from "../store/contract.ts";
import { type Answer, type Known, STATUS } from "./answer.ts";
import { append } from "./append.ts";
import type { Batch } from "./batch.ts";
import { type ChunkSeen, HEADER_BYTES } from "./chunk.ts";
import { appendCold } from "./cold.ts";
import type { Frame } from "./frames.ts";
import type { JournalReader } from "./journal-reader.ts";
import { law } from "./law.ts";
import type { Reach } from "./older.ts";
import { type Done, type Event, frameOf, record } from "./record.ts";
import { refused, unsent } from "./refused.ts";
import type { Seen } from "./rollbacks.ts";
import { rotate } from "./rotate.ts";
import type { SeriesSettings } from "./series-options.ts";
import type { ServerTime } from "./server-time.ts";

/** What the store says of a batch; no verdicts: all of it was written. */
export type Written = Seen & { verdicts?: Uint8Array };

/** What clocks may differ in over a request. */
const SLACK_MS = 1000;

/** Between which server times an append counts. */
interface Times {
  notBeforeMs?: number;
  voidAfterMs: number;
}

/** One process as a producer: numbers its frames, appends them to the open chunk, and closes chunks that are due. */
export class JournalWriter {
  readonly #store: Store;
  readonly #key: string;
  readonly #settings: SeriesSettings;
  readonly #reader: JournalReader;
  readonly #time: ServerTime;
  #producer: number | undefined;
  #sequence = 0;
  /** The open chunk was seen, and does not wait to be closed for its length. */
  #isUsual = false;
  #rotation: Promise<void> | undefined;

  constructor(store: Store, key: string, settings: SeriesSettings, reader: JournalReader, time: ServerTime) {
    this.#store = store;
    this.#key = key;
    this.#settings = settings;
    this.#reader = reader;
    this.#time = time;
  }

  /** The event of a batch that is but one, where the open chunk was as nearly always when it was last seen. */
  eventOf(batch: Batch): Event | undefined {
    const value = batch.lone;
    const nowMs = this.#time.estimateMs();
    if (value === undefined || !this.#isUsual || nowMs === undefined) return undefined;
    const { valueType, retentionMs } = this.#settings;
    this.#producer ??= this.#begin();
    const sequence = this.#nextSequence();
    return { valueType, producer: this.#producer, sequence, value, retentionMs, voidAfterMs: nowMs + law.voidAfterMs };
  }

  /** Writes one event; undefined where the chunk is not as nearly always: append it then, it will count once. */
  record(event: Event): Promise<Done | undefined> {
    const { replicas } = this.#settings;
    return this.#store.run(record, this.#key, event, replicas === 0 ? undefined : { replicas });
  }

  /** After `record`, of whose earlier attempts without an answer it is not known whether they were done. */
  async appendEvent(event: Event): Promise<Answer> {
    try {
      return await this.#append([frameOf(event)], event, "none");
    } catch (cause) {
      if (!(cause instanceof OrielError)) throw cause;
      const { code, message, transient } = cause;
      throw new OrielError(code, message, { cause, transient, applied: "unknown" });
    }
  }

  /**
   * Writes a batch, and answers what the caller lacks of the open chunk; "none": nothing. `reach`: what is wanted of
   * closed chunks, where nothing is known.
   */
  async append(batch: Batch, known: Known | undefined | "none", reach?: Reach): Promise<Answer> {
    const isByOwnClock = !this.#settings.isResident && known === undefined && reach !== undefined;
    if (this.#time.estimateMs() === undefined && !isByOwnClock) await this.#learnTime();
    this.#producer ??= this.#begin();
    const frames = batch.frames(this.#producer, () => this.#nextSequence());
    const nowMs = this.#time.estimateMs();
    if (nowMs === undefined) return this.#appendByOwnClock(frames, reach!);
    return this.#append(frames, { voidAfterMs: nowMs + law.voidAfterMs }, known, reach);
  }

  /**
   * Appends where the server's time is not known, and need not be asked for first: within half of `voidAfterMs` of this
   * process's own clock, so that all copies are as close as ever. Void because that clock is wrong, it is sent again by
   * the server's, where no copy of the first can have counted by then, or can count later than readers remember.
   */
  async #appendByOwnClock(frames: Frame[], reach: Reach): Promise<Answer> {
    const ownMs = Math.floor(Date.now());
    const startMs = this.#store.monotonic();
    const half = law.voidAfterMs / 2;
    const times = { notBeforeMs: ownMs - half, voidAfterMs: ownMs + half };
    const answer = await this.#send(frames, times, undefined, reach);
    if (answer.status !== STATUS.void) return this.#taken(answer);
    const tookMs = Math.ceil(this.#store.monotonic() - startMs) + SLACK_MS;
    const wasAlwaysLate = answer.nowMs - tookMs > times.voidAfterMs;
    const isSoonOver = answer.nowMs < times.notBeforeMs && times.voidAfterMs < answer.nowMs + law.dedupeMs - SLACK_MS;
    if (!wasAlwaysLate && !isSoonOver) return this.#taken(answer);
    return this.#append(frames, { voidAfterMs: answer.nowMs + law.voidAfterMs }, undefined, reach);
  }

  /**
   * Takes note of what a batch met, and closes the open chunk where it is time, without waiting for it. Late rotation
   * harms nothing: the next one tries again.
   */
  see({ header, length, nowMs }: Seen): void {
    this.#isUsual = length > HEADER_BYTES && length < law.rotateBytes;
    if (!header || this.#rotation || length <= HEADER_BYTES) return;
    if (length < law.rotateBytes && nowMs - header.createdMs < header.chunkMs) return;
    const end = () => {
      this.#rotation = undefined;
    };
    this.#rotation = this.#rotate(header).then(end, end);
  }

  async close(): Promise<void> {
    await this.#rotation;
  }

  async #append(frames: Frame[], times: Times, known: Known | undefined | "none", reach?: Reach): Promise<Answer> {
    return this.#taken(await this.#send(frames, times, known, reach));
  }

  #taken(answer: Answer): Answer {
    if (answer.status !== STATUS.done) throw refused(answer, this.#settings.valueType);
    return answer;
  }

  async #send(
    frames: Frame[],
    { notBeforeMs = 0, voidAfterMs }: Times,
    known: Known | undefined | "none",
    reach?: Reach,
  ): Promise<Answer> {
    const { valueType, clock, retentionMs, replicas } = this.#settings;
    const input = { valueType, clock, retentionMs, voidAfterMs, birth: this.#drawBirth(), frames, known };
    const send = () =>
      known === undefined && reach
        ? this.#store.run(appendCold, this.#key, { ...input, reach, notBeforeMs }, { replicas })
        : this.#store.run(append, this.#key, input, { replicas });
    let answer = await send();
    this.#time.learn(answer);
    if (answer.status === STATUS.old) {
      await this.#rotate(answer.header!);
      answer = await send();
    }
    return answer;
  }

  /** Before an append: where it fails, nothing was sent. */
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

  /** Never 0, which says "no chunk before". */
  #drawBirth(): number {
    return this.#settings.entropy() || 1;
  }

  #nextSequence(): number {
    this.#sequence = (this.#sequence + 1) >>> 0;
    return this.#sequence;
  }
}
