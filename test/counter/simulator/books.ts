import type { Counters } from "../../../src/counters/counter/counters.ts";
import { shardOf } from "../../../src/counters/counter/format/layout.ts";

/** One event, or several equal ones, and the outcome of its call. */
export interface Sent {
  readonly row: string;
  readonly count: number;
  fate: "open" | "acknowledged" | "no" | "unknown";
  acknowledgedAtMs: number;
  /** No process is left that could send it again, or it was reported as lost. */
  mayBeLost: boolean;
}

export interface Event {
  readonly values: { site: string; id: string };
  readonly at: number;
  readonly count: number;
}

/** A row without the added dimension, which distinguishes rows here. */
export function withoutColour(row: string): string {
  return row.split("|", 3).join("|");
}

/** As these counters know them. */
export function valuesFor({ shape }: Counters, { values }: Event) {
  return shape.added ? { ...values, colour: "red" } : values;
}

/** The sent events by row. Most rows have one event, so that a second copy is seen. */
export class Books {
  readonly rows = new Map<string, Sent[]>();
  acknowledged = 0;

  open({ values, at, count }: Event): Sent {
    const row = `${Math.floor(at / 60_000)}|${values.site}|${values.id}`;
    const sent: Sent = { row, count, fate: "open", acknowledgedAtMs: Number.NaN, mayBeLost: false };
    const own = this.rows.get(row);
    if (own) own.push(sent);
    else this.rows.set(row, [sent]);
    return sent;
  }

  acknowledge(sent: Sent, nowMs: number): void {
    if (sent.fate !== "acknowledged") this.acknowledged++;
    sent.fate = "acknowledged";
    sent.acknowledgedAtMs = Math.min(nowMs, sent.acknowledgedAtMs || nowMs);
  }
}

/** The complaint about a row's count. `mustHave`: the events that must be in it. */
export function wrongCount(
  all: readonly Sent[],
  counted: bigint,
  mustHave: (one: Sent) => boolean,
): string | undefined {
  const sum = (which: (one: Sent) => boolean) =>
    BigInt(all.filter(which).reduce((total, { count }) => total + count, 0));
  const most = sum(({ fate }) => fate !== "no");
  const least = sum((one) => one.fate === "acknowledged" && mustHave(one));
  const isPart = all.length === 1 && counted !== 0n && counted !== BigInt(all[0]!.count);
  if (counted >= least && counted <= most && !isPart) return undefined;
  return `${all[0]!.row} counts ${counted}, not ${least} to ${most} (${all.map(({ fate }) => fate)})`;
}

const encoder = new TextEncoder();
export function shardOfRow(row: string, shards: number): number {
  return shardOf(encoder.encode(row.slice(row.indexOf("|"))), shards);
}
