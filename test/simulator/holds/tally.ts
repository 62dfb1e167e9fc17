import { type Outcome, playSchedule } from "./schedule.ts";

const TRACE_LINES = 60;

/** Sums of many schedules, and the seeds that failed. */
class Tally {
  readonly failed: number[] = [];
  readonly #first: number;
  #schedules = 0;
  #holds = 0;
  #lost = 0;
  #refused = 0;
  #missedTrials = 0;
  #failovers = 0;
  #deaths = 0;

  constructor(first: number) {
    this.#first = first;
  }

  add({ seed, violations, holds, lost, refused, missedTrials, failovers, deaths }: Outcome): void {
    this.#schedules++;
    if (violations.length > 0) this.failed.push(seed);
    this.#holds += holds;
    this.#lost += lost;
    this.#refused += refused;
    this.#missedTrials += missedTrials;
    this.#failovers += failovers;
    this.#deaths += deaths;
  }

  get line(): string {
    const failed = this.failed.length > 0 ? ` (seeds ${this.failed.slice(0, 10).join(" ")})` : "";
    return (
      `holds: ${this.#schedules} schedules from seed ${this.#first}, ${this.failed.length} failed${failed}, ${this.#holds} holds, ` +
      `${this.#lost} lost, ${this.#refused} calls refused, ${this.#missedTrials} missed trials, ${this.#failovers} failovers, ${this.#deaths} deaths`
    );
  }
}

export const tallyOf = (first: number) => new Tally(first);

/** What broke, and the way there: the schedule is played once more, with a trace. */
export async function explain({ seed, violations }: Outcome): Promise<string> {
  const { trace } = await playSchedule(seed, { tracing: true });
  const first = trace.findIndex((line) => line.includes("VIOLATION"));
  const shown = trace.slice(Math.max(1, first - TRACE_LINES), first < 0 ? undefined : first + 1);
  return `seed ${seed}:\n  ${violations.join("\n  ")}\n${trace[0]}\n${shown.join("\n")}\nORIEL_SEED=${seed} replays it`;
}
