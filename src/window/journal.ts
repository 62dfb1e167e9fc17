import { OrielError } from "../errors.ts";
import type { Store } from "../store/contract.ts";
import { type Answer, STATUS } from "./answer.ts";
import { append } from "./append.ts";
import type { Batch } from "./batch.ts";
import { type ChunkHeader, HEADER_BYTES } from "./chunk.ts";
import { Fallback } from "./fallback.ts";
import { JournalCopy } from "./journal-copy.ts";
import { deleteJournal } from "./journal-delete.ts";
import { JournalReader } from "./journal-reader.ts";
import { JournalView } from "./journal-view.ts";
import { Kept } from "./kept.ts";
import { law } from "./law.ts";
import { Outbox } from "./outbox.ts";
import type { Question } from "./question.ts";
import { isStoreFailure, refused, unsent } from "./refused.ts";
import { Residents } from "./residents.ts";
import { rotate } from "./rotate.ts";
import type { SeriesSettings } from "./series-options.ts";
import { type ServerQuestion, ServerSide } from "./server-side.ts";
import { ServerTime } from "./server-time.ts";

/** Microtask turns before a commit is put together: callers woken by the last one join the next. */
const TURN_HOPS = 8;
/** Some 300 bytes each. */
const MOST_QUESTIONS = 65_536;

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
  readonly #kept: Kept | undefined;
  readonly #fallback: Fallback | undefined;
  readonly #server: ServerSide;
  #questions: Question[] = [];
  #serverQuestions: ServerQuestion[] = [];
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
    const residents = Residents.of(store);
    this.outbox = new Outbox(settings.valueType, settings.maxPendingBytes);
    if (settings.isLocalOnError) this.#kept = new Kept(settings.valueType, settings.maxPendingBytes);
    this.#view = new JournalView(this.#reader, new JournalCopy(), settings, store.monotonic, residents, this.#kept);
    this.#server = new ServerSide(store, this.#key, settings, this.#view);
    if (this.#kept)
      this.#fallback = new Fallback(this.#view, this.#kept, settings, this.#time, {
        probe: async () => this.#time.learn(await this.#reader.open("header")),
        handIn: (values, times) => {
          const recorded = this.outbox.addMany(values, times, false);
          this.wake();
          return recorded;
        },
      });
  }

  /** Lets the loop run; called after something was put into the outbox. */
  wake(): void {
    this.#loop ??= this.#run();
  }

  /** OVERLOADED when too many questions wait for the store already. */
  checkAskable(): void {
    if (this.#questions.length + this.#serverQuestions.length >= MOST_QUESTIONS)
      throw new OrielError("OVERLOADED", `${MOST_QUESTIONS} questions wait for the store`, { transient: true });
  }

  ask(question: Question): void {
    if (this.#view.answerHeld(question)) return;
    this.#questions.push(question);
    this.wake();
  }

  /** Answered inside the store, at a cut that holds what was recorded before. */
  askServer(question: ServerQuestion): void {
    this.#serverQuestions.push(question);
    this.wake();
  }

  checkOpen(): void {
    if (this.#closed) throw new OrielError("UNAVAILABLE", "the series is closed");
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#fallback?.close();
    while (this.#loop) await this.#loop;
    await this.#rotation;
    this.#view.clear();
  }

  /** Deletes the journal as it stands; what others record meanwhile begins a new one. */
  async delete(): Promise<void> {
    try {
      await deleteJournal(this.#store, this.#key, this.#reader);
    } finally {
      this.#view.age.forget();
    }
    this.#kept?.clear();
  }

  async #run(): Promise<void> {
    for (;;) {
      for (let hop = 0; hop < TURN_HOPS; hop++) await undefined;
      const batch = this.outbox.take();
      if (batch) this.#takenId = batch.id;
      const due = this.#questions.filter((question) => question.afterBatch <= this.#takenId);
      const there = this.#serverQuestions.splice(0);
      if (!batch && due.length + there.length === 0) break;
      this.#questions = this.#questions.filter((question) => question.afterBatch > this.#takenId);
      if (due.length > 0) this.#view.hold();
      if (batch || due.length > 0) await this.#commit(batch, due);
      if (due.length > 0) this.#view.release();
      if (batch) this.outbox.done(batch);
      if (there.length > 0) await this.#answerThere(there);
    }
    this.#loop = undefined;
  }

  /** A store that is out of reach computes nothing: `onStoreError` changes nothing for who asks there. */
  async #answerThere(questions: readonly ServerQuestion[]): Promise<void> {
    const fallback = this.#fallback;
    if (fallback?.isAway) return fallback.refuse(questions);
    const error = await this.#server.answer(questions);
    fallback?.leave(error);
  }

  /** Never throws: whoever waits is told. */
  async #commit(batch: Batch | undefined, due: Question[]): Promise<void> {
    const fallback = this.#fallback;
    if (fallback?.isAway) return fallback.answer(batch, due, fallback.nowMs(), false);
    const begunMs = fallback?.nowMs() ?? 0;
    const { lastId } = this.outbox;
    let cut: Answer;
    const asked = this.#view.age.now();
    try {
      cut = batch ? await this.#append(batch, due.length > 0) : await this.#reader.open(this.#view.known);
      this.#time.learn(cut);
      this.#view.see(cut);
    } catch (error) {
      if (fallback?.leave(error))
        return fallback.answer(batch, due, begunMs, (error as OrielError).applied === "unknown");
      batch?.fail(error);
      const others = due.filter((question) => batch && question.afterBatch < batch.id);
      for (const question of due) if (!others.includes(question)) question.fail(error);
      if (isStoreFailure(error)) this.#failBacklog(lastId, others, unsent(error));
      else if (others.length > 0) await this.#commit(undefined, others);
      return;
    }
    batch?.settle(cut.verdicts);
    if (batch) this.#rotateWhenDue(cut);
    if (due.length > 0)
      await this.#view.answer(cut, due, asked, (error, questions) => this.#takeOver(error, questions));
  }

  /** Who waited for as long as a commit that the store failed fails with it: no call waits for one deadline after another. */
  #failBacklog(lastId: number, others: readonly Question[], error: unknown): void {
    this.outbox.failUntil(lastId, error);
    const waiting = this.#questions.filter((question) => question.afterBatch <= lastId);
    this.#questions = this.#questions.filter((question) => question.afterBatch > lastId);
    for (const question of [...others, ...waiting]) question.fail(error);
  }

  #takeOver(error: unknown, questions: readonly Question[]): boolean {
    const fallback = this.#fallback;
    if (!fallback?.leave(error)) return false;
    fallback.answer(undefined, questions, fallback.nowMs(), false);
    return true;
  }

  async #append(batch: Batch, bytesWanted: boolean): Promise<Answer> {
    if (this.#time.estimateMs() === undefined) await this.#learnTime();
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
    if (answer.status !== STATUS.done) throw refused(answer, input.valueType);
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
    const end = () => {
      this.#rotation = undefined;
    };
    this.#rotation = this.#rotate(header).then(end, end);
  }

  async #rotate({ number, birth }: ChunkHeader): Promise<void> {
    await this.#store.run(rotate, this.#key, { number, birth, nextBirth: this.#drawBirth() });
  }
}
