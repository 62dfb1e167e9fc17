import { law } from "../journal/format/law.ts";
import type { Reach } from "../journal/format/older.ts";
import type { Column } from "../kernel/contract.ts";
import type { Fold } from "../stats/segments/fold.ts";
import type { WindowQuery } from "../stats/window-query.ts";
import type { Degraded } from "../stats/window-stats.ts";
import type { Closed } from "../time.ts";

/** Events at one instant, as questions see them. */
export interface WindowView {
  collect(fold: Fold, fromMs: number, toMs: number, closed: Closed): void;
  /** The same as `collect` into an empty fold; what it remembers makes the next one of the same span cheap. */
  fold(fromMs: number, toMs: number, closed: Closed): Fold;
  /** The values inside the window, a copy in the order of the journal. */
  valuesInside(fromMs: number, toMs: number, closed: Closed): Column;
  /** Why a window from `fromMs` may lack events, if it may. */
  degradedBy(fromMs: number): Degraded | undefined;
}

/** What a caller wants to know at the next cut that holds everything up to batch `afterBatch`. */
export interface Question {
  afterBatch: number;
  window: WindowQuery;
  /** Questions of one kind (compared as a Map's key) are computed once per cut. */
  kind: unknown;
  /** Whether the answer can say that it is degraded; one that cannot is never given while the store is out of reach. */
  tellsDegraded: boolean;
  /** Called while the view stands exactly at the cut. */
  compute(view: WindowView, fromMs: number, toMs: number): unknown;
  resolve(answer: unknown): void;
  fail(error: unknown): void;
}

/** What of a journal's past the questions need. */
export function reachOf(questions: readonly Question[]): Reach {
  let spanMs = -Infinity;
  let fromMs = Infinity;
  for (const { window } of questions)
    if (window.atMs === undefined) spanMs = Math.max(spanMs, window.spanMs);
    else fromMs = Math.min(fromMs, window.atMs - window.spanMs);
  return { spanMs, fromMs, mostBytes: law.coldBytes };
}

/** Answers all from one view at one instant; never throws, whoever waits is told. */
export function answerAll(questions: readonly Question[], view: WindowView, nowMs: number): void {
  const answers = new Map<unknown, unknown>();
  for (const question of questions) {
    const toMs = question.window.atMs ?? nowMs;
    try {
      if (!answers.has(question.kind))
        answers.set(question.kind, question.compute(view, toMs - question.window.spanMs, toMs));
      question.resolve(answers.get(question.kind));
    } catch (error) {
      question.fail(error);
    }
  }
}
