import { type Outcome, playSchedule } from "../schedule.ts";

/** Sums of many schedules, and the schedules that failed. */
export class Tally {
  schedules = 0;
  readonly failed: number[] = [];
  #acknowledged = 0;
  #answered = 0;
  #degraded = 0;
  #rotations = 0;
  #failovers = 0;
  #deletions = 0;
  #seals = 0;
  #dropped = 0;

  add(outcome: Outcome): void {
    this.schedules++;
    if (outcome.violations.length > 0) this.failed.push(outcome.seed);
    this.#acknowledged += outcome.acknowledged;
    this.#answered += outcome.answered;
    this.#degraded += outcome.degraded;
    this.#rotations += outcome.rotations;
    this.#failovers += outcome.failovers;
    this.#seals += outcome.seals;
    this.#dropped += outcome.droppedCopies;
    this.#deletions += outcome.deletions;
  }

  get #failures(): string {
    if (this.failed.length === 0) return "0 failed";
    const more = this.failed.length > 10 ? " ..." : "";
    return `${this.failed.length} failed (seeds ${this.failed.slice(0, 10).join(" ")}${more})`;
  }

  get line(): string {
    return (
      `faults: ${this.schedules} schedules, ${this.#failures}, ` +
      `${this.#acknowledged} events acknowledged, ${this.#answered} queries judged (${this.#degraded} degraded), ` +
      `${this.#rotations} rotations, ${this.#failovers} failovers, ${this.#deletions} deletions, ${this.#seals} seals, ${this.#dropped} copies dropped by them`
    );
  }
}

const TRACE_LINES = 60;

/** What broke, and the way there: the schedule is played once more, with a trace. */
export async function explain({ seed, violations }: Outcome): Promise<string> {
  const again = await playSchedule(seed, { tracing: true });
  const lines = again.trace.map((line) => line.slice(0, 300));
  const first = lines.findIndex((line) => line.includes("VIOLATION"));
  const shown = lines.slice(Math.max(1, first - TRACE_LINES), first < 0 ? undefined : first + 1);
  const same = again.violations[0] === violations[0] ? "" : "\n(it did not break the same way when played again)";
  return `seed ${seed}:\n  ${violations.join("\n  ")}${same}\n${lines[0]}\n${shown.join("\n")}\nORIEL_SEED=${seed} replays it`;
}
