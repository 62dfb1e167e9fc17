import type { OneAtATime } from "../../async/beside.ts";
import { gathering } from "../../async/gathering.ts";
import { endsWithRequest } from "../../async/of-request.ts";
import { OrielError } from "../../errors.ts";
import type { Answer } from "../../journal/format/answer.ts";
import { JournalCopy } from "../../journal/replica/journal-copy.ts";
import { JournalReader } from "../../journal/replica/journal-reader.ts";
import { Residents } from "../../journal/replica/residents.ts";
import type { ServerTime } from "../../journal/replica/server-time.ts";
import { corruptAt } from "../../journal/steps/corrupt.ts";
import type { Column } from "../../kernel/contract.ts";
import type { Store } from "../../store/contract.ts";
import { type Question, reachOf } from "../question.ts";
import type { Recorded } from "../recorded.ts";
import { isStoreFailure, unsent } from "../refused.ts";
import type { SeriesSettings } from "../series-options.ts";
import { type ServerQuestion, ServerSide } from "../server/server-side.ts";
import { Summaries } from "../summary/summaries.ts";
import type { Batch } from "./batch.ts";
import { Fallback } from "./fallback.ts";
import { deleteJournal } from "./journal-delete.ts";
import type { JournalOwner } from "./journal-owner.ts";
import { JournalView } from "./journal-view.ts";
import { JournalWriter, type Written } from "./journal-writer.ts";
import { Kept } from "./kept.ts";
import { Outbox } from "./outbox.ts";

/** Some 300 bytes each. */
const MOST_QUESTIONS = 65_536;

/**
 * One process's side of a journal: a single loop that commits what was recorded (one append in flight, the next takes
 * all that came meanwhile) and answers the questions that wait, at the cut which that append or a read gives.
 */
export class Journal implements OneAtATime {
  readonly outbox: Outbox;
  readonly #store: Store;
  readonly #key: string;
  readonly #reader: JournalReader;
  readonly #writer: JournalWriter;
  readonly #time: ServerTime;
  readonly #view: JournalView;
  readonly #kept: Kept | undefined;
  readonly #fallback: Fallback | undefined;
  readonly #server: ServerSide;
  readonly summaries: Summaries;
  #questions: Question[] = [];
  #serverQuestions: ServerQuestion[] = [];
  #takenId = 0;
  #loop: Promise<void> | undefined;
  /** The loop waits for the store. */
  #isSending = false;
  #closed = false;

  constructor(store: Store, name: string, settings: SeriesSettings, { place, time, giveUp }: JournalOwner) {
    this.#store = store;
    this.#key = store.keyOf(name);
    this.#reader = new JournalReader(store, this.#key);
    this.#time = time;
    this.#writer = new JournalWriter(store, this.#key, settings, this.#reader, this.#time);
    const residents = Residents.of(store);
    this.outbox = new Outbox(settings.valueType, settings.maxPendingBytes, (error) => place.error("record", error));
    if (settings.isLocalOnError) this.#kept = new Kept(settings.valueType, settings.maxPendingBytes);
    const copy = new JournalCopy();
    this.#view = new JournalView(this.#key, this.#reader, copy, settings, store.monotonic, residents, this.#kept);
    this.#server = new ServerSide(store, this.#key, settings, this.#view);
    this.summaries = new Summaries(store, this.#key, settings, {
      reader: this.#reader,
      copy,
      ask: (question) => this.ask(question),
      learn: (answer) => this.#time.learn(answer),
      rollbacks: this.#view.rollbacks,
      lacks: (fromMs) => this.#view.lacks(fromMs),
      isAway: () => this.#fallback?.isAway === true,
      leave: (error) => this.#fallback?.leave(error) === true,
    });
    if (this.#kept)
      this.#fallback = new Fallback(this.#view, this.#kept, settings, this.#time, {
        probe: async () => this.#time.learn(await this.#reader.open("header")),
        handIn: (values, times) => {
          if (endsWithRequest) return this.#handIn(values, times);
          const recorded = this.outbox.addMany(values, times, false);
          this.wake();
          return recorded;
        },
        giveUp: (count, error) => giveUp(count, place.error("record", error)),
      });
  }

  get isBusy(): boolean {
    return this.#isSending || this.summaries.size > 0;
  }

  lose(): void {
    this.#fallback?.lose();
  }

  /** Lets the loop run; called after something was put into the outbox. */
  wake(): void {
    this.#loop ??= this.#run();
  }

  /** UNAVAILABLE when it is closed, OVERLOADED when too many questions wait for the store already. */
  checkAskable(): void {
    this.checkOpen();
    const { size } = this.summaries;
    if (this.#questions.length + this.#serverQuestions.length + size >= MOST_QUESTIONS)
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
    await this.summaries.settled();
    while (this.#loop) await this.#loop;
    await this.#writer.rotated();
    this.#view.clear();
  }

  /** Deletes the journal as it stands; what others record meanwhile begins a new one. */
  async delete(): Promise<void> {
    try {
      await deleteJournal(this.#store, this.#key, this.#reader);
    } catch (error) {
      throw corruptAt(this.#key, error);
    } finally {
      this.#view.age.forget();
    }
    this.#fallback?.forget();
  }

  async #run(): Promise<void> {
    for (;;) {
      await gathering();
      const batch = this.outbox.take();
      if (batch) this.#takenId = batch.id;
      const due = this.#takeDue();
      const there = this.#serverQuestions.splice(0);
      if (!batch && due.length + there.length === 0) break;
      this.#isSending = true;
      if (due.length > 0) this.#view.hold();
      if (batch || due.length > 0) await this.#commit(batch, due);
      if (due.length > 0) this.#view.release();
      if (batch) this.outbox.done(batch);
      if (there.length > 0) await this.#answerThere(there);
      if (this.outbox.isEmpty && this.#questions.length + this.#serverQuestions.length === 0) break;
    }
    this.#loop = undefined;
    this.#isSending = false;
  }

  /** Within the loop of the request that found the store back. */
  async #handIn(values: Column, times: Float64Array): Promise<Recorded> {
    const outbox = this.outbox.another();
    const recorded = outbox.addMany(values, times, false);
    for (let batch = outbox.take(); batch; batch = outbox.take()) await this.#commit(batch, []);
    return recorded;
  }

  #takeDue(): Question[] {
    if (this.#questions.length === 0) return [];
    const due = this.#questions.filter((question) => question.afterBatch <= this.#takenId);
    this.#questions = this.#questions.filter((question) => question.afterBatch > this.#takenId);
    return due;
  }

  /** A store that is out of reach computes nothing: `onStoreError` changes nothing for who asks there. */
  async #answerThere(questions: readonly ServerQuestion[]): Promise<void> {
    const fallback = this.#fallback;
    if (fallback?.isAway && endsWithRequest) await fallback.look();
    if (fallback?.isAway) return fallback.refuse(questions);
    const error = await this.#server.answer(questions);
    fallback?.leave(error);
  }

  /** Never throws: whoever waits is told. */
  async #commit(batch: Batch | undefined, due: Question[]): Promise<void> {
    const fallback = this.#fallback;
    if (fallback?.isAway && endsWithRequest) await fallback.look();
    if (fallback?.isAway) return fallback.answer(batch, due, fallback.nowMs(), false);
    const begunMs = fallback?.nowMs() ?? 0;
    const { lastId } = this.outbox;
    let cut: Answer | Written;
    const asked = this.#view.age.now();
    const before = this.#view.rollbacks.seen;
    try {
      if (!batch) cut = await this.#reader.open(this.#view.known, reachOf(due));
      else if (due.length > 0) cut = await this.#writer.append(batch, this.#view.known, reachOf(due));
      else {
        const event = this.#writer.eventOf(batch);
        if (!event) cut = await this.#writer.append(batch, "none");
        else cut = (await this.#writer.record(event)) ?? (await this.#writer.appendEvent(event));
      }
      this.#time.learn(cut);
      this.#view.rollbacks.see(cut, before);
    } catch (thrown) {
      const error = corruptAt(this.#key, thrown);
      if (fallback?.leave(error))
        return fallback.answer(batch, due, begunMs, (error as OrielError).applied === "unknown");
      batch?.fail(error);
      const others = due.filter((question) => batch && question.afterBatch < batch.id);
      for (const question of due) if (!others.includes(question)) question.fail(error);
      if (isStoreFailure(error)) this.#failBacklog(lastId, others, unsent(error));
      else if (others.length > 0) await this.#commit(undefined, others);
      return;
    }
    if (batch) this.#writer.see(cut);
    if (endsWithRequest) await this.#writer.rotated();
    batch?.settle(cut.verdicts, cut.isOnlyCopy);
    if (due.length > 0)
      await this.#view.answer(cut as Answer, due, asked, (error, questions) => this.#takeOver(error, questions));
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
}
