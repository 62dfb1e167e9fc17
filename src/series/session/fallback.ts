import { endsWithRequest } from "../../async/of-request.ts";
import { idlePause } from "../../async/waiting.ts";
import { OrielError } from "../../errors.ts";
import type { ServerTime } from "../../journal/replica/server-time.ts";
import { answerAll, type Question, type WindowView } from "../question.ts";
import { isOfStore } from "../refused.ts";
import type { SeriesSettings } from "../series-options.ts";
import type { Batch } from "./batch.ts";
import type { Ways } from "./fallback-ways.ts";
import type { Kept, Stretch } from "./kept.ts";
import { checkTimes } from "./kept-times.ts";
import { longer, SHORTEST_PAUSE_MS } from "./pauses.ts";

/** Events so near to expiry are not handed in: one that the store finds too late would take its whole frame along. */
const EXPIRY_SLACK_MS = 1000;
const NEVER_REACHED = "events that were recorded before the store was ever reached have no time of its clock";
const EXPIRED = "events that were kept while the store was away became older than the retention before it was back";

type Copy = Pick<WindowView, "fold" | "collect"> & { readonly latestMs: number };

/**
 * What a series does under `onStoreError: "local"` while its store is out of reach.
 *
 *        a call fails for its store: DEADLINE, UNAVAILABLE, STALE, out of memory
 *   ok ------------------------------------------------> away
 *    ^   that call and all later ones are answered here    |  one probe at a time, in the background;
 *    |                                                     |  no call waits for it
 *    +-----------------------------------------------------+
 *        a probe is answered: calls go to the store again, and behind them what was kept is handed in
 *
 * Events of an append that may have been applied, and those recorded before the store was ever reached (they have no
 * server time), count in this process's answers while it is away, and are never handed in: at most once in the store.
 * Their number is reported, `applied` "unknown" or "no".
 * The others are handed in with their times, stretch by stretch, as dated events; an append of them that fails is kept
 * by the same rule, and tried again. What the store will never accept (LATE, MISMATCH, CORRUPT) is given up, and told.
 * Results say "local" while away, and afterwards where the window reaches what is not in the store.
 */
export class Fallback {
  readonly #copy: Copy;
  readonly #kept: Kept;
  readonly #settings: SeriesSettings;
  readonly #time: ServerTime;
  readonly #ways: Ways;
  #cause: unknown;
  #isAway = false;
  #isClosed = false;
  #returning: Promise<void> | undefined;
  #handing: Stretch | undefined;
  #endPause: (() => void) | undefined;
  #nowMs = -Infinity;
  /** Kept events without a server time, not reported yet. */
  #untimedCount = 0;

  constructor(copy: Copy, kept: Kept, settings: SeriesSettings, time: ServerTime, ways: Ways) {
    this.#copy = copy;
    this.#kept = kept;
    this.#settings = settings;
    this.#time = time;
    this.#ways = ways;
  }

  get isAway(): boolean {
    return this.#isAway;
  }

  /** Fails, with the store's last failure, what only the store can answer. */
  refuse(questions: readonly Pick<Question, "fail">[]): void {
    for (const question of questions) question.fail(this.#cause);
  }

  /** Whether a failure is the store's; from then on calls are answered here. */
  leave(error: unknown): boolean {
    if (!isOfStore(error)) return false;
    this.#cause = error;
    this.#isAway = true;
    if (!endsWithRequest) this.#returning ??= this.#return();
    return true;
  }

  /** In Workers, where no timer outlives its request: a call finds out itself, and hands in what was kept. Never rejects. */
  async look(): Promise<void> {
    try {
      await this.#ways.probe();
    } catch (error) {
      if (isOfStore(error)) {
        this.#cause = error;
        return;
      }
    }
    this.#beBack();
    await this.#handIn();
  }

  /** The series' now, as well as this process can tell; it does not fall back while away. */
  nowMs(): number {
    const serverMs = this.#time.roughMs();
    const { latestMs } = this.#copy;
    const eventMs = Math.max(latestMs, this.#kept.latestMs);
    const isOfEvents = this.#settings.clock === 1 && eventMs > -Infinity;
    const nowMs = isOfEvents ? eventMs : Math.max(serverMs, latestMs);
    if (!this.#isAway) return nowMs;
    this.#nowMs = Math.max(this.#nowMs, nowMs);
    return this.#nowMs;
  }

  /** Keeps the batch, whose undated events were recorded at `atMs`, and answers the questions; at once. */
  answer(batch: Batch | undefined, questions: readonly Question[], atMs: number, mayBeApplied: boolean): void {
    this.#tellExpired(this.#kept.dropBefore(this.nowMs() - this.#settings.retentionMs));
    batch?.keep((values, times) => {
      if (times) checkTimes(times, this.#time.roughMs(), this.nowMs() - this.#settings.retentionMs, mayBeApplied);
      // By this process's own clock: the store must not have that time.
      const isTimed = times !== undefined || this.#time.isKnown;
      this.#kept.add(values, times ?? atMs, isTimed && !mayBeApplied, mayBeApplied);
      if (mayBeApplied) this.#ways.giveUp(values.length, this.#cause as OrielError);
      else if (!isTimed) this.#untimedCount += values.length;
    });
    this.refuse(questions.filter((question) => !question.tellsDegraded));
    const view: WindowView = {
      collect: (fold, fromMs, toMs, closed) => {
        this.#copy.collect(fold, fromMs, toMs, closed);
        this.#kept.collect(fold, fromMs, toMs, closed);
      },
      fold: (fromMs, toMs, closed) => {
        const fold = this.#copy.fold(fromMs, toMs, closed);
        this.#kept.collect(fold, fromMs, toMs, closed);
        return fold;
      },
      valuesInside: () => {
        throw this.#cause;
      },
      degradedBy: () => "local",
    };
    answerAll(
      questions.filter((question) => question.tellsDegraded),
      view,
      this.nowMs(),
    );
  }

  /** Stops asking; what is being handed in goes on to its end. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#endPause?.();
    await this.#returning;
    this.#giveUpKept("the series was closed before what it kept could be handed in");
  }

  /** The series was deleted, and what is kept goes with it; what is being handed in may begin it anew. */
  forget(): void {
    this.#giveUpKept("the series was deleted before what was kept could be handed in");
    this.#kept.clear();
  }

  /** The request has ended that had begun to hand in. */
  lose(): void {
    const why = "a request ended before what was kept could be handed in";
    const options = { transient: true, applied: "unknown" } as const;
    if (this.#handing) this.#ways.giveUp(this.#handing.values.length, new OrielError("UNAVAILABLE", why, options));
    this.#giveUpKept(why);
  }

  #giveUpKept(why: string): void {
    this.#reportUntimed();
    if (this.#kept.sureCount > 0) this.#ways.giveUp(this.#kept.sureCount, new OrielError("UNAVAILABLE", why));
  }

  async #return(): Promise<void> {
    for (let pauseMs = SHORTEST_PAUSE_MS; this.#isAway; pauseMs = longer(pauseMs)) {
      await this.#untilAnswered();
      if (this.#isClosed) break;
      this.#beBack();
      await this.#handIn();
      // A server that is full, or permits no writing, answers probes all the same.
      if (this.#isAway) await this.#pause(pauseMs * (0.5 + Math.random() / 2));
    }
    this.#returning = undefined;
  }

  #beBack(): void {
    this.#isAway = false;
    this.#nowMs = -Infinity;
    this.#kept.forgetUnsure();
    this.#reportUntimed();
  }

  async #untilAnswered(): Promise<void> {
    for (let pauseMs = SHORTEST_PAUSE_MS; !this.#isClosed; pauseMs = longer(pauseMs)) {
      try {
        await this.#ways.probe();
        return;
      } catch (error) {
        // Any other error will meet the calls themselves.
        if (!isOfStore(error)) return;
        this.#cause = error;
      }
      await this.#pause(pauseMs * (0.5 + Math.random() / 2));
    }
  }

  async #handIn(): Promise<void> {
    let pauseMs = SHORTEST_PAUSE_MS;
    while (!this.#isAway) {
      const part = this.#kept.shift(this.nowMs() - this.#settings.retentionMs + EXPIRY_SLACK_MS);
      if (!part) return this.#kept.settle();
      this.#tellExpired(part.expired);
      this.#handing = part;
      try {
        await this.#ways.handIn(part.values, part.times);
        pauseMs = SHORTEST_PAUSE_MS;
      } catch (error) {
        const { transient, applied } = error as OrielError;
        if (!transient || applied === "unknown" || this.#isClosed) this.#giveUp(part, error as OrielError);
        else {
          this.#kept.putBack(part);
          if (endsWithRequest) return;
          await this.#pause(pauseMs);
          pauseMs = longer(pauseMs);
        }
      } finally {
        this.#handing = undefined;
      }
    }
  }

  #giveUp(part: Stretch, error: OrielError): void {
    this.#kept.giveUp(part);
    this.#ways.giveUp(part.values.length, error);
  }

  #reportUntimed(): void {
    if (this.#untimedCount === 0) return;
    this.#ways.giveUp(this.#untimedCount, new OrielError("UNAVAILABLE", NEVER_REACHED, { cause: this.#cause }));
    this.#untimedCount = 0;
  }

  #tellExpired(count: number): void {
    if (count > 0) this.#ways.giveUp(count, new OrielError("LATE", EXPIRED));
  }

  #pause(ms: number): Promise<void> {
    const { ended, end } = idlePause(ms);
    this.#endPause = end;
    return ended;
  }
}
