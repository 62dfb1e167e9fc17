import { OrielError } from "../errors.ts";
import type { Store } from "../store/contract.ts";
import { type Answer, STATUS } from "./answer.ts";
import { append } from "./append.ts";
import type { Batch } from "./batch.ts";
import { type ChunkHeader, HEADER_BYTES } from "./chunk.ts";
import { DELETED, deleteChunk } from "./delete.ts";
import { JournalCopy } from "./journal-copy.ts";
import { JournalReader } from "./journal-reader.ts";
import { JournalView, type Question } from "./journal-view.ts";
import { law } from "./law.ts";
import { Outbox } from "./outbox.ts";
import { Residents } from "./residents.ts";
import { closedKey, rotate } from "./rotate.ts";
import type { SeriesSettings } from "./series-options.ts";
import { ServerTime } from "./server-time.ts";

/** Microtask turns before a commit is put together: callers woken by the last one join the next. */
const TURN_HOPS = 8;
const DELETED_AT_ONCE = 16;
const MOST_DELETE_ROUNDS = 100;

/**
 * One process's side of a journal: a single loop that commits what was recorded (one append in flight, the next takes
 * all that came meanwhile) and answers the questions that wait, at the cut which that append or a read gives.
 */
export class Journal {
  readonly outbox: Outbox;
  readonly #store: Store;
  readonly #key: string;
  readonly #settings: SeriesSettings;
  readonly #reader: JournalReader;
  readonly #time: ServerTime;
  readonly #view: JournalView;
  #questions: Question[] = [];
  #takenId = 0;
  #producer: number | undefined;
  #sequence = 0;
  #loop: Promise<void> | undefined;
  #rotation: Promise<void> | undefined;
  #closed = false;

  constructor(store: Store, name: string, settings: SeriesSettings) {
    this.#store = store;
    this.#key = store.keyOf(name);
    this.#settings = settings;
    this.#reader = new JournalReader(store, this.#key);
    this.#time = new ServerTime(store.monotonic);
    this.#view = new JournalView(this.#reader, new JournalCopy(), settings, store.monotonic, Residents.of(store));
    this.outbox = new Outbox(settings.valueType, settings.maxPendingBytes);
  }

  /** Lets the loop run; called after something was put into the outbox. */
  wake(): void {
    this.#loop ??= this.#run();
  }

  ask(question: Question): void {
    this.#questions.push(question);
    this.wake();
  }

  checkOpen(): void {
    if (this.#closed) throw new OrielError("UNAVAILABLE", "the series is closed");
  }

  async close(): Promise<void> {
    this.#closed = true;
    while (this.#loop) await this.#loop;
    await this.#rotation;
    this.#view.clear();
  }

  /** Deletes the journal as it stands; what others record meanwhile begins a new one. */
  async delete(): Promise<void> {
    let { header } = await this.#reader.open("header");
    for (let round = 0; header; round++) {
      if (round === MOST_DELETE_ROUNDS) throw new OrielError("LOST", "the series kept changing", { transient: true });
      const { number, birth }: ChunkHeader = header;
      const result = await this.#store.run(deleteChunk, this.#key, birth);
      // Another birth: the chunk was closed meanwhile, and then is there under its number; or it is already deleted.
      const closed = result === DELETED.another ? await this.#reader.closed(number) : undefined;
      await this.#deleteClosed(number - 1);
      if (closed?.header?.birth !== birth) return;
      header = (await this.#reader.open("header")).header;
      await this.#deleteClosed(number);
    }
  }

  async #deleteClosed(newest: number): Promise<void> {
    for (let number = newest; ; number -= DELETED_AT_ONCE) {
      const numbers = Array.from({ length: DELETED_AT_ONCE }, (_, i) => number - i);
      const headers = (await Promise.all(numbers.map((each) => this.#reader.closed(each)))).flatMap(
        (one) => one.header ?? [],
      );
      if (headers.length === 0) return;
      // By birth: a request that is repeated late, after a failover, may find another chunk under the number.
      await Promise.all(
        headers.map((one) => this.#store.run(deleteChunk, closedKey(this.#key, one.number), one.birth)),
      );
    }
  }

  async #run(): Promise<void> {
    for (;;) {
      for (let hop = 0; hop < TURN_HOPS; hop++) await undefined;
      const batch = this.outbox.take();
      if (batch) this.#takenId = batch.id;
      const due = this.#questions.filter((question) => question.afterBatch <= this.#takenId);
      if (!batch && due.length === 0) break;
      this.#questions = this.#questions.filter((question) => question.afterBatch > this.#takenId);
      if (due.length > 0) this.#view.hold();
      await this.#commit(batch, due);
      if (due.length > 0) this.#view.release();
      if (batch) this.outbox.done(batch);
    }
    this.#loop = undefined;
  }

  /** Never throws: whoever waits is told. */
  async #commit(batch: Batch | undefined, due: Question[]): Promise<void> {
    let cut: Answer;
    try {
      cut = batch ? await this.#append(batch, due.length > 0) : await this.#reader.open(this.#view.known);
      this.#time.learn(cut);
      this.#view.see(cut);
    } catch (error) {
      batch?.fail(error);
      const others = due.filter((question) => batch && question.afterBatch < batch.id);
      for (const question of due) if (!others.includes(question)) question.fail(error);
      if (others.length > 0) await this.#commit(undefined, others);
      return;
    }
    batch?.settle(cut.verdicts);
    if (batch) this.#rotateWhenDue(cut);
    if (due.length > 0) await this.#view.answer(cut, due);
  }

  async #append(batch: Batch, bytesWanted: boolean): Promise<Answer> {
    if (this.#time.estimateMs() === undefined) this.#time.learn(await this.#reader.open("header"));
    const { valueType, clock, retentionMs } = this.#settings;
    this.#producer ??= this.#begin();
    const input = {
      valueType,
      clock,
      retentionMs,
      voidAfterMs: this.#time.estimateMs()! + law.voidAfterMs,
      birth: this.#drawBirth(),
      frames: batch.frames(this.#producer, () => this.#nextSequence()),
      known: bytesWanted ? this.#view.known : ("none" as const),
    };
    const { replicas } = this.#settings;
    let answer = await this.#store.run(append, this.#key, input, { replicas });
    this.#time.learn(answer);
    if (answer.status === STATUS.old) {
      await this.#rotate(answer.header!);
      answer = await this.#store.run(append, this.#key, input, { replicas });
    }
    if (answer.status !== STATUS.done) throw refusal(answer, input.valueType);
    return answer;
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

  #rotateWhenDue(cut: Answer): void {
    const { header } = cut;
    if (!header || this.#rotation || cut.length <= HEADER_BYTES) return;
    if (cut.length < law.rotateBytes && cut.nowMs - header.createdMs < header.chunkMs) return;
    // Late rotation harms nothing: whoever appends next tries again.
    this.#rotation = this.#rotate(header).then(
      () => {
        this.#rotation = undefined;
      },
      () => {
        this.#rotation = undefined;
      },
    );
  }

  async #rotate({ number, birth }: ChunkHeader): Promise<void> {
    await this.#store.run(rotate, this.#key, { number, birth, nextBirth: this.#drawBirth() });
  }
}

function refusal(answer: Answer, valueType: number): OrielError {
  switch (answer.status) {
    case STATUS.clash: {
      const { valueType: type, clock } = answer.header!;
      const stored = `${type === 1 ? "float64" : "float32"} values and the ${clock === 1 ? "event" : "server"} clock`;
      const asked = valueType === type ? "another clock" : "another value type";
      return new OrielError("CLASH", `the series is stored with ${stored}; it was opened with ${asked}`);
    }
    case STATUS.full:
      return new OrielError("OVERLOADED", `the open chunk holds ${answer.length} bytes and waits to be closed`, {
        transient: true,
        applied: "unknown",
      });
    case STATUS.void:
      return new OrielError("STALE", `the events were sent more than ${law.voidAfterMs} ms after they were recorded`, {
        transient: true,
        applied: "unknown",
      });
    case STATUS.old:
      return new OrielError("OVERLOADED", "the open chunk is too old and could not be closed", { transient: true });
    default:
      return new OrielError("CORRUPT", `the key holds no journal of format ${law.format}`);
  }
}
