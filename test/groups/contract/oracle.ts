import { expect } from "vitest";
import type { Closed } from "../../../src/base/time.ts";
import type { GroupRow, GroupRows } from "../../../src/engine/groups/rows.ts";
import { type Asked, type Event, expectStats, inside } from "../../stats/oracle.ts";

export interface LabelledEvent extends Event {
  labels: Readonly<Record<string, string>>;
}

export interface AskedRows extends Asked {
  by?: readonly string[];
  match?: Readonly<Record<string, string | readonly string[] | undefined>>;
  closed?: Closed;
}

/** The values of each row of a window, by the text of the row's labels. */
export function rowsByHand(
  events: readonly LabelledEvent[],
  fromMs: number,
  toMs: number,
  { by = ["route", "method"], match = {}, closed }: AskedRows,
): Map<string, number[]> {
  const rows = new Map<string, LabelledEvent[]>();
  for (const event of events) {
    const isWanted = Object.entries(match).every(
      ([name, wanted]) => wanted === undefined || [wanted].flat().includes(event.labels[name]!),
    );
    if (!isWanted) continue;
    const key = JSON.stringify(Object.fromEntries(by.map((name) => [name, event.labels[name]])));
    rows.set(key, [...(rows.get(key) ?? []), event]);
  }
  const values = [...rows].map(([key, its]) => [key, inside(its, fromMs, toMs, closed)] as const);
  return new Map(values.filter(([, its]) => its.length > 0));
}

/** An answer has exactly the rows that brute force finds, each with its statistics, and those with most events first. */
export function expectRows(answer: GroupRows, events: readonly LabelledEvent[], asked: AskedRows): void {
  const expected = rowsByHand(events, answer.from, answer.to, asked);
  const found = new Map(answer.rows.map((row) => [JSON.stringify(row.labels), row]));
  expect([...found.keys()].sort()).toEqual([...expected.keys()].sort());
  expect(found.size).toBe(answer.rows.length);
  for (const [key, values] of expected) expectStats(asStats(found.get(key)!, answer), values, asked);
  for (let i = 1; i < answer.rows.length; i++)
    expect(answer.rows[i]!.count).toBeLessThanOrEqual(answer.rows[i - 1]!.count);
}

function asStats({ labels: _, ...row }: GroupRow, { from, to, degraded }: GroupRows) {
  return { ...row, from, to, degraded };
}
