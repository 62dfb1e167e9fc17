import { corruptError, OrielError } from "../../errors.ts";
import { type Answer, isUnchanged, type Known } from "../../journal/format/answer.ts";
import { degradedOf, needsOlder, seriesNowMs } from "../../journal/format/coverage.ts";
import { law } from "../../journal/format/law.ts";
import { Rolled } from "../../journal/format/rolled.ts";
import type { JournalCopy } from "../../journal/replica/journal-copy.ts";
import { type JournalReader, TooMany } from "../../journal/replica/journal-reader.ts";
import type { Account, Residents } from "../../journal/replica/residents.ts";
import { Rollbacks } from "../../journal/replica/rollbacks.ts";
import { Age, type Instant } from "../../journal/replica/server-time.ts";
import { corruptAt } from "../../journal/steps/corrupt.ts";
import type { Column } from "../../kernel/contract.ts";
import { Cores } from "../../stats/segments/cores.ts";
import type { Fold } from "../../stats/segments/fold.ts";
import { bytesPerEvent } from "../../stats/segments/segment.ts";
import type { Degraded } from "../../stats/window-stats.ts";
import type { Clock, Closed } from "../../time.ts";
import { afterRecording, tooLarge } from "../answer-failure.ts";
import { answerAll, type Question, reachOf, type WindowView } from "../question.ts";
import type { SeriesSettings } from "../series-options.ts";
import type { Kept } from "./kept.ts";

/** A copy is not kept when the names of its frames, of many producers, take more than this part of its bound. */
const MOST_FOR_NAMES = 0.5;

/** How often a read begins anew because the journal changed under it, before it gives up. */
const MOST_RESTARTS = 8;

type TakeOver = (error: unknown, questions: Question[]) => boolean;

/** A copy of the journal at one cut: what questions are answered from. */
export class JournalView implements WindowView {
  readonly #key: string;
  readonly #reader: JournalReader;
  readonly #copy: JournalCopy;
  readonly #settings: SeriesSettings;
  readonly #monotonic: Clock;
  readonly age: Age;
  readonly rollbacks = new Rollbacks();
  readonly #cores = new Cores();
  readonly #residents: Residents;
  readonly #account: Account;
  readonly #kept: Kept | undefined;
  #cut: Answer | undefined;

  constructor(
    key: string,
    reader: JournalReader,
    copy: JournalCopy,
    settings: SeriesSettings,
    monotonic: Clock,
    residents: Residents,
    kept?: Kept,
  ) {
    this.#key = key;
    this.#kept = kept;
    this.#reader = reader;
    this.#copy = copy;
    this.#settings = settings;
    this.#monotonic = monotonic;
    this.age = new Age(monotonic);
    this.#residents = residents;
    this.#account = residents.open(this, settings.maxResidentBytes);
  }

  /** What the next call for bytes names. */
  get known(): Known | undefined {
    const { tail } = this.#copy;
    return tail && this.#copy.knownOf(tail);
  }

  clear(): void {
    this.letGo();
    this.#residents.settle(this.#account, 0);
  }

  letGo(): void {
    this.age.forget();
    this.#copy.clear();
    this.#cores.letGo();
  }

  /** Keeps others from having the copy let go of, from `known` until what the store answered is taken in. */
  hold(): void {
    this.#account.held++;
  }

  release(): void {
    if (--this.#account.held > 0) return;
    const { isResident, maxResidentBytes, valueType } = this.#settings;
    if (!isResident || this.#copy.nameBytes > MOST_FOR_NAMES * maxResidentBytes) this.letGo();
    this.#residents.settle(this.#account, this.#copy.sizeBytesAs(valueType));
  }

  /** Why a window from `fromMs` lacks events that this process has seen, if it does. */
  lacks(fromMs: number): Degraded | undefined {
    if (this.rollbacks.reach(fromMs)) return "lost";
    return this.#kept?.reaches(fromMs) ? "local" : undefined;
  }

  /**
   * Brings the copy up to the cut and answers; never throws, whoever waits is told. `asked`: before the cut was. A failure
   * of the store is told to `takeOver` first, where one is given; if that answers true, it takes care of the questions.
   */
  async answer(cut: Answer, questions: Question[], asked: Instant, takeOver?: TakeOver): Promise<void> {
    try {
      await this.#catchUp(cut, questions, asked);
    } catch (error) {
      if (takeOver?.(error, questions)) return;
      const told = error instanceof TooMany ? tooLarge(this.#mostEvents, this.#settings.maxResidentBytes) : error;
      return this.#fail(told, questions, takeOver);
    }
    answerAll(questions, this, this.nowMs);
  }

  /** Answers from the copy as it stands, where that is young enough for the question and reaches back far enough. */
  answerHeld(question: Question): boolean {
    const { maxAgeMs } = question.window;
    if (maxAgeMs === 0 || this.age.ms > maxAgeMs) return false;
    const { head, noOlder } = this.#copy;
    if (head && !noOlder && needsOlder(head.header, this.#fromMs(question))) return false;
    this.hold();
    answerAll([question], this, this.nowMs);
    this.release();
    return true;
  }

  async #fail(error: unknown, questions: Question[], takeOver?: TakeOver): Promise<void> {
    // What was taken in before the store failed is whole as far as it goes; the next read links to it or drops it.
    if (!(error instanceof OrielError && error.transient)) this.letGo();
    // Too large for those that reach back furthest; the others have their answer yet.
    const tooLarge = error instanceof OrielError && error.code === "TOO_LARGE";
    const furthestMs = this.#furthestMs(questions);
    const others = tooLarge ? questions.filter((question) => this.#fromMs(question) > furthestMs) : [];
    for (const question of questions)
      if (!others.includes(question)) question.fail(question.afterBatch > 0 ? afterRecording(error) : error);
    if (others.length === 0) return;
    try {
      const asked = this.age.now();
      await this.answer(await this.#reader.open(this.known, reachOf(others)), others, asked, takeOver);
    } catch (failure) {
      if (!takeOver?.(failure, others)) for (const question of others) question.fail(failure);
    }
  }

  #fromMs({ window }: Question): number {
    return (window.atMs ?? this.nowMs) - window.spanMs;
  }

  #furthestMs(questions: Question[]): number {
    return questions.reduce((least, question) => Math.min(least, this.#fromMs(question)), Infinity);
  }

  /** The series' now: the server's, which never falls behind a stamp, or the latest event's. */
  get nowMs(): number {
    const { header, nowMs } = this.#cut!;
    return header ? seriesNowMs(header, nowMs) : nowMs;
  }

  /** The latest instant that the copy knows of; -Infinity for none. */
  get latestMs(): number {
    const { tail } = this.#copy;
    if (!tail) return -Infinity;
    return tail.header.clock === 1 ? tail.header.latestMs : tail.header.lastStampMs;
  }

  collect(fold: Fold, fromMs: number, toMs: number, closed: Closed): void {
    for (const segment of this.#copy.segments.list) segment.collect(fold, fromMs, toMs, closed);
  }

  fold(fromMs: number, toMs: number, closed: Closed): Fold {
    const { list, version } = this.#copy.segments;
    return this.#cores.fold(list, version, fromMs, toMs, closed);
  }

  valuesInside(fromMs: number, toMs: number, closed: Closed): Column {
    return this.#copy.valuesInside(this.#settings.valueType, fromMs, toMs, closed);
  }

  degradedBy(fromMs: number): Degraded | undefined {
    const { header, nowMs } = this.#cut!;
    if (!header) return undefined;
    const { noOlder } = this.#copy;
    const oldest = this.#copy.head?.header ?? header;
    const missing = noOlder && oldest.birthBefore !== 0;
    const reachMs = oldest.clock === 1 ? oldest.latestMs : oldest.createdMs;
    return degradedOf({ header, nowMs, missing, reachMs }, fromMs, this.lacks(fromMs));
  }

  async #catchUp(cut: Answer, questions: Question[], asked: Instant): Promise<void> {
    this.age.forget();
    const first = cut;
    for (let restart = 0; restart < MOST_RESTARTS; restart++) {
      const begunMs = this.#monotonic();
      this.#cut = cut;
      const needMs = this.#furthestMs(questions);
      try {
        this.#checkKind(cut);
        await this.#reader.follow(this.#copy, cut, needMs, this.#settings.maxResidentBytes);
        if (this.#monotonic() - begunMs <= law.longestReadMs) {
          this.#letGo(needMs);
          return this.age.learn(asked);
        }
      } catch (thrown) {
        const error = corruptAt(this.#key, thrown, this.#cut.header?.number);
        // What changed between two pages can look like damage; what is damaged still is at the second reading.
        const looksDamaged = restart === 0 && error instanceof OrielError && error.code === "CORRUPT";
        if (!(error instanceof Rolled) && !looksDamaged) throw error;
        if (error instanceof Rolled && error.isLoss && this.#copy.tail) this.rollbacks.tell(this.#copy.tail.header);
        this.letGo();
      }
      asked = this.age.now();
      const before = this.rollbacks.seen;
      cut = await this.#reader.open(this.known, reachOf(questions));
      this.rollbacks.see(cut, before);
    }
    if (isUnchanged(cut, first)) throw corruptError(this.#key, "its chunks do not fit together");
    throw new OrielError("LOST", "the series kept changing while it was read", { transient: true });
  }

  #checkKind({ header }: Answer): void {
    const { valueType, clock } = this.#settings;
    if (header && (header.valueType !== valueType || header.clock !== clock))
      throw new OrielError("MISMATCH", "the series is stored with another value type or clock than it was opened with");
  }

  /** Drops what no window within the retention needs, and within the bound also what this one does not need. */
  #letGo(needMs: number): void {
    const { chunks } = this.#copy;
    const { length } = chunks;
    while (this.#isSpare(Math.min(needMs, this.nowMs - this.#settings.retentionMs))) this.#copy.dropHead();
    const { maxResidentBytes } = this.#settings;
    while (this.#copy.isBeyond(maxResidentBytes) && this.#isSpare(needMs)) this.#copy.dropHead();
    if (chunks.length < length) this.#cores.letGo();
    if (this.#copy.isBeyond(maxResidentBytes)) throw new TooMany();
  }

  /** Whether a window from `fromMs` needs nothing of the oldest chunk. */
  #isSpare(fromMs: number): boolean {
    const next = this.#copy.chunks[1];
    return next !== undefined && !needsOlder(next.header, fromMs);
  }

  get #mostEvents(): number {
    return Math.floor(this.#settings.maxResidentBytes / bytesPerEvent(this.#settings.valueType));
  }
}
