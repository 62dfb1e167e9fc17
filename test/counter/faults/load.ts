import { expect } from "vitest";
import type { BucketName } from "../../../src/base/calendar.ts";
import { OrielError } from "../../../src/base/errors.ts";
import type { Counters } from "../../../src/counters/counter/counters.ts";
import type { CountTable } from "../../../src/counters/counter/table.ts";

const ROWS = 60;
/** Three minutes of three hours and two days. */
const APART_MS = 700 * 60_000;
export const AT = Date.UTC(2026, 10, 21, 12);
export const DIMENSIONS = ["id"] as const;

/** Callers that count, and what they know of it: what is counted lies between acknowledged and sent, in each row. */
export class Load {
  readonly sent = new Map<string, number>();
  readonly acknowledged = new Map<string, number>();
  readonly errors: OrielError[] = [];
  acknowledgedTotal = 0;
  readonly #rows: number;
  #isOver = false;
  readonly #runs: Promise<void>[] = [];

  /** `rows`: the number of distinct rows. */
  constructor(rows = ROWS) {
    this.#rows = rows;
  }

  /** Number of callers, each with one event under way. */
  start(counters: Counters, callers: number): void {
    for (let i = 0; i < callers; i++) this.#runs.push(this.#run(counters, i));
  }

  async #run(counters: Counters, caller: number): Promise<void> {
    for (let i = 0; !this.#isOver; i++) {
      const row = caller * 31 + i;
      await this.add(counters, `r${row % this.#rows}`, 1 + (i % 3), AT + (row % 3) * APART_MS);
    }
  }

  async add(counters: Counters, id: string, count = 1, at = AT): Promise<void> {
    this.sent.set(id, (this.sent.get(id) ?? 0) + count);
    try {
      await counters.add({ id }, { at, count });
      this.acknowledged.set(id, (this.acknowledged.get(id) ?? 0) + count);
      this.acknowledgedTotal++;
    } catch (error) {
      if (!(error instanceof OrielError)) throw error;
      this.errors.push(error);
      if (error.applied === "no") this.sent.set(id, this.sent.get(id)! - count);
      // A refusal is answered at once: let others get on.
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#runs);
  }

  /** Each row between what was acknowledged and what was sent; without errors that is one number. */
  async check(counters: Counters, table?: CountTable, bucket: BucketName = "minute"): Promise<void> {
    const rows = await counters.read(table ? { bucket, table } : { bucket });
    const counted = new Map<string, number>();
    for (const { values, count } of rows) counted.set(values.id!, (counted.get(values.id!) ?? 0) + Number(count));
    const wrong = [...this.sent].filter(([id, sent]) => {
      const count = counted.get(id) ?? 0;
      return !(count >= (this.acknowledged.get(id) ?? 0) && count <= sent);
    });
    const reported = wrong.map(([id, sent]) => `${id}: ${this.acknowledged.get(id)} <= ${counted.get(id)} <= ${sent}`);
    expect(reported).toEqual([]);
    expect([...counted.keys()].filter((id) => !this.sent.has(id))).toEqual([]);
  }
}
