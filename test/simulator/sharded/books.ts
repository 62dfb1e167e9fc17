import { OrielError } from "../../../src/base/errors.ts";
import type { Agree } from "../../../src/engine/shards/steps/agree.ts";
import type { World } from "../world/world.ts";
import type { Ran } from "./primary.ts";

/** The known states of an event. Each has a value of its own, a whole number from 1. */
const STATE = { sent: 1, acknowledged: 2, refused: 3, unknown: 4 } as const;

/** Some shards that an answer may lack. */
export interface Away {
  /** For the whole of the call, and for some of it. */
  readonly always: ReadonlySet<string>;
  readonly ever: ReadonlySet<string>;
}

export interface Answered {
  readonly count: number;
  readonly sum: number;
  readonly min: number;
  readonly max: number;
  readonly percentiles: Readonly<Record<number, number>>;
  readonly degraded: boolean;
  readonly degradedBy?: string | undefined;
  readonly missingShare?: number | undefined;
}

/** A question about a window that has ended on every server. */
export interface Question {
  readonly atMs: number;
  readonly spanMs: number;
  /** The keys of all shards that are read. */
  readonly keys: readonly string[];
  readonly away: Away;
}

/** What recorders know of their events, what the primaries have of them, and whether answers agree with that. */
export class Books {
  /** When a number of shards was noted first. */
  readonly notedMs = new Map<number, number>();
  acknowledged = 0;
  failed = 0;
  /** Of these, because of their number of shards. */
  mismatched = 0;
  /** Copies of requests that were written a second time. */
  copies = 0;
  /** Answers that were compared with every event, and those of which only bounds are known. */
  exact = 0;
  bounded = 0;
  readonly #world: World;
  readonly #states: number[] = [0];
  /** By the key of the shard, in the order in which they were written. */
  readonly #written = new Map<string, { value: number; stampMs: number }[]>();
  readonly #isWritten: boolean[] = [];

  constructor(world: World) {
    this.#world = world;
  }

  get sent(): number {
    return this.#states.length - 1;
  }

  /** Watches the primaries. */
  saw({ step, key, input, values, nowMs }: Ran): void {
    if (step === "shards/agree") {
      const { shards, keepMs } = input as Agree;
      if (keepMs > 0 && !this.notedMs.has(shards)) this.notedMs.set(shards, this.#world.nowMs);
    }
    for (const value of values) {
      if (this.#isWritten[value]) this.copies++;
      else if (this.#written.has(key)) this.#written.get(key)!.push({ value, stampMs: nowMs });
      else this.#written.set(key, [{ value, stampMs: nowMs }]);
      this.#isWritten[value] = true;
    }
  }

  newValue(): number {
    return this.#states.push(STATE.sent) - 1;
  }

  /** Notes what became of events that were recorded together. */
  async follow(values: readonly number[], recorded: Promise<unknown>): Promise<boolean> {
    const note = (state: number) => {
      for (const value of values) this.#states[value] = state;
    };
    try {
      await recorded;
    } catch (error) {
      // A process that dies while others already name more shards, and begins again with the old number, is refused.
      const isMismatch = error instanceof OrielError && error.code === "MISMATCH" && error.applied === "no";
      if (!isMismatch && !(error instanceof OrielError && error.transient))
        this.#world.violation(`record failed with ${(error as Error)?.stack}`);
      if (isMismatch) this.mismatched += values.length;
      note((error as OrielError).applied === "no" ? STATE.refused : STATE.unknown);
      this.failed += values.length;
      return false;
    }
    note(STATE.acknowledged);
    this.acknowledged += values.length;
    return true;
  }

  /** The answer is that of every event in the shards that it has, and says which share it lacks. */
  judge(answer: Answered, { atMs, spanMs, keys, away }: Question): void {
    const { always, ever } = away;
    const lacks = (some: ReadonlySet<string>) => keys.filter((key) => some.has(key));
    const [least, most] = [lacks(always).length, lacks(ever).length];
    const missing = Math.round((answer.missingShare ?? 0) * keys.length * 1e6) / 1e6;
    const where = `an answer to ${atMs % 1e9} from ${keys.length} shards`;
    if (!(missing >= least && missing <= most))
      this.#world.violation(`${where} says that ${missing} are away; right is ${least} to ${most}`);
    if (answer.degraded !== missing > 0 || (answer.degraded && answer.degradedBy !== "shards"))
      this.#world.violation(`${where} is degraded by ${answer.degradedBy}; ${missing} are away`);
    const inside = (left: ReadonlySet<string>) =>
      keys.flatMap((key) => (left.has(key) ? [] : this.#inside(key, atMs - spanMs, atMs)));
    if (least === most) {
      this.exact++;
      this.#compare(where, answer, Float64Array.from(inside(ever)).sort());
      return;
    }
    this.bounded++;
    const [few, many] = [inside(ever).length, inside(always).length];
    if (answer.count < few || answer.count > many)
      this.#world.violation(`${where} counts ${answer.count}; right is ${few} to ${many}`);
  }

  #inside(key: string, fromMs: number, toMs: number): number[] {
    const events = this.#written.get(key) ?? [];
    return events.flatMap(({ value, stampMs }) => (stampMs > fromMs && stampMs <= toMs ? [value] : []));
  }

  #compare(where: string, answer: Answered, right: Float64Array): void {
    const { length: count } = right;
    const wanted = {
      ...{ count, sum: right.reduce((sum, value) => sum + value, 0) },
      ...(count > 0 && { min: right[0], max: right.at(-1), p50: right[Math.ceil(count / 2) - 1] }),
    };
    const got = { ...answer, p50: answer.percentiles[50] };
    for (const [name, value] of Object.entries(wanted))
      if (got[name as keyof typeof got] !== value)
        this.#world.violation(`${where} has ${name} ${got[name as keyof typeof got]}; right is ${value}`);
  }

  /** An answer up to the present has what was acknowledged before, and no more than was sent. */
  judgePresent({ count, degraded }: Answered, acknowledgedBefore: number): void {
    if (count > this.sent || (!degraded && count < acknowledgedBefore))
      this.#world.violation(`an answer counts ${count} of ${acknowledgedBefore} acknowledged and ${this.sent} sent`);
  }

  /** After all faults: every acknowledged event once, none that was refused. */
  judgeAll(values: ArrayLike<number>): void {
    const times = new Uint32Array(this.#states.length);
    for (const value of Array.from(values)) times[value]!++;
    const wrong = (text: string, is: (value: number) => boolean) => {
      const found = Array.from(times.keys()).filter((value) => value > 0 && is(value));
      if (found.length > 0) this.#world.violation(`${found.length} events ${text}: ${found.slice(0, 5)}`);
    };
    wrong("are lost", (value) => this.#states[value] === STATE.acknowledged && times[value] === 0);
    wrong("count twice", (value) => times[value]! > 1);
    wrong("count and were refused", (value) => this.#states[value] === STATE.refused && times[value]! > 0);
    wrong("are answered and not in a primary", (value) => times[value]! > 0 && !this.#isWritten[value]);
  }
}
