import { kernel } from "../../entries/index.ts";
import type { BadLine, Outcome, Reading } from "../formats/reading.ts";
import type { Row } from "../row.ts";
import { oneLine } from "../text/safe-text.ts";
import type { ReplayOptions } from "./options.ts";
import type { Recorder } from "./recorder.ts";
import type { WindowSchedule } from "./schedule.ts";

/** A shared store refuses events further ahead of its clock. The line is wrong then. */
const MAX_AHEAD_MS = 60_000;

/**
 * One replay: outcomes in, rows out. Before it records an event that closes windows, it records all earlier events and
 * prints those windows. So no series is ahead of a queried window by more than the lateness, and a retention of
 * span + lateness is enough.
 */
export class ReplayRun {
  readonly #options: ReplayOptions;
  readonly #schedule: WindowSchedule;
  readonly #recorder: Recorder;
  readonly #badLines: BadLines;
  /** The embedded store's time. It follows the events, so that events outside all windows are dropped at any speed. */
  readonly #clock: { nowMs: number };
  readonly #print: (rows: Row[]) => Promise<void>;
  #eventCount = 0;
  #lateCount = 0;
  #lostCount = 0;
  #rowCount = 0;

  constructor(
    options: ReplayOptions,
    schedule: WindowSchedule,
    recorder: Recorder,
    badLines: BadLines,
    clock: { nowMs: number },
    print: (rows: Row[]) => Promise<void>,
  ) {
    this.#options = options;
    this.#schedule = schedule;
    this.#recorder = recorder;
    this.#badLines = badLines;
    this.#clock = clock;
    this.#print = print;
  }

  async take(outcome: Outcome): Promise<void> {
    if ("reason" in outcome) return this.#badLines.add(outcome);
    const fault = this.#faultOf(outcome);
    if (fault !== null) return this.#badLines.add({ lineNumber: outcome.lineNumber, reason: fault });
    if (outcome.atMs > this.#schedule.latestMs) {
      for (const endMs of this.#schedule.advance(outcome.atMs)) await this.#close(endMs);
      this.#clock.nowMs = outcome.atMs;
    }
    this.#eventCount += 1;
    const verdict = this.#schedule.judge(outcome.atMs);
    if (verdict === "late") this.#lateCount += 1;
    if (verdict === "lost") this.#lostCount += 1;
    const isCovered = verdict === "open" || verdict === "late";
    if (!isCovered && !this.#options.empty) return;
    const refusal = isCovered ? this.#recorder.add(outcome) : this.#recorder.announce(outcome);
    if (refusal !== null) {
      this.#eventCount -= 1;
      this.#badLines.add({ lineNumber: outcome.lineNumber, reason: refusal });
    }
    if (this.#recorder.isFull) await this.#recorder.flush();
  }

  async finish(): Promise<void> {
    for (const endMs of this.#schedule.finish()) await this.#close(endMs);
    await this.#recorder.flush();
  }

  /** One line for people: the numbers of events read, late events, and printed windows. */
  summary(lineCount: number): string {
    const lostCount = this.#lostCount + this.#recorder.refusedCount;
    const parts = [
      `${lineCount} lines, ${this.#eventCount} events, ${this.#rowCount} rows`,
      `${this.#badLines.count} lines could not be read`,
      `${this.#lateCount} events came late for a window already printed`,
      `${lostCount} too late for any`,
      ...this.#recorder.skipped.summary(),
    ];
    return `oriel: ${parts.join("; ")} (kernel ${kernel.name})\n`;
  }

  #faultOf({ atMs, value }: Reading): string | null {
    if (this.#options.values === "float32" && !Number.isFinite(Math.fround(value)))
      return `the value ${value} is too large for float32`;
    if (this.#options.redis !== undefined && atMs > Date.now() + MAX_AHEAD_MS)
      return "its time lies more than 60 s in the future, which a shared series refuses";
    return null;
  }

  async #close(endMs: number): Promise<void> {
    await this.#recorder.flush();
    const rows = await this.#recorder.rows(endMs);
    this.#rowCount += rows.length;
    if (rows.length > 0) await this.#print(rows);
    await this.#recorder.forget(endMs + this.#options.everyMs);
  }
}

const MAX_SHOWN = 5;

/** Counts the lines that could not be read, and keeps the first few to show. */
export class BadLines {
  #count = 0;
  readonly #first: BadLine[] = [];

  add(line: BadLine): void {
    this.#count += 1;
    if (this.#first.length < MAX_SHOWN) this.#first.push(line);
  }

  get count(): number {
    return this.#count;
  }

  /**
   * One line for each: "line 7: the value "x" is not a finite number", then the number of others. Empty without bad
   * lines.
   */
  text(): string {
    const lines = this.#first.map(({ lineNumber, reason }) => `oriel: line ${lineNumber}: ${oneLine(reason)}\n`);
    const more = this.#count - this.#first.length;
    return (
      lines.join("") +
      (more > 0 ? `oriel: and ${more} more ${more === 1 ? "line" : "lines"} that could not be read\n` : "")
    );
  }
}
