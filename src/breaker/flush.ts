import { script } from "../generated/breaker/flush.ts";
import type { Operation } from "../store/contract.ts";
import { ARRAY_BYTES, ownText, SLOT_BYTES } from "../store/memory/heap-bytes.ts";
import { Circuit } from "./circuit.ts";
import { type Answer, answerOf, type Handed, ruleBytes, wholeBytes, wishBytes } from "./exchange.ts";
import { law } from "./law.ts";

/** What a memory store keeps under a breaker's key. */
interface Kept {
  circuit: Circuit;
  /** Of each process: its last batch, and when it came. */
  processes: Map<string, { sequence: number; atMs: number }>;
}

/** A record in an array that may have room for as many again. */
const RECORD_BYTES = 64;
const KEPT_BYTES = ARRAY_BYTES + 1000;
const PROBE_BYTES = SLOT_BYTES + 72;
const PROCESS_BYTES = SLOT_BYTES + 112;

/**
 * Takes in what one process has gathered, decides by what all have, and tells the circuit's state; law in
 * lua/breaker/flush.lua. Sent again with the same sequence it counts once; it is not sent again by itself, as the ages in
 * it would be wrong.
 */
export const flush: Operation<Handed, Answer> = {
  name: "breaker/flush",
  script,
  keyCount: 1,
  arity: 3,
  repeatable: false,
  encode: (handed) => [ruleBytes(handed.rule), wishBytes(handed), wholeBytes(handed.batch)],
  decode: answerOf,
  local(keys, key, handed, nowMs) {
    const kept = (keys.get(key) as Kept | undefined) ?? { circuit: new Circuit(nowMs), processes: new Map() };
    const sizeBytes = sizeOf(kept, handed.batch.length / 4, handed.wanted, 1);
    keys.set(key, kept, sizeBytes, Number.POSITIVE_INFINITY);
    const answer = step(kept, handed, nowMs);
    keys.set(key, kept, sizeOf(kept), expireAtMsOf(kept.circuit, handed, nowMs));
    return answer;
  },
};

function step(
  { circuit, processes }: Kept,
  { rule, id, sequence, batch, settled, wanted, first }: Handed,
  nowMs: number,
) {
  const behindMs = circuit.look(rule, nowMs);
  if (behindMs > 0) for (const each of processes.values()) each.atMs -= behindMs;
  for (const { number, verdict } of settled) circuit.settle(rule, tokenOf(id, number), verdict, nowMs);
  if (sequence > (processes.get(id)?.sequence ?? 0)) {
    remember(processes, id, sequence, rule.spanMs, nowMs);
    if (takeIn(circuit, { rule, batch }, nowMs)) circuit.decide(rule, nowMs);
  }
  const tokens = Array.from({ length: wanted }, (_, i) => tokenOf(id, first + i));
  const granted = circuit.permit(rule, tokens, nowMs);
  const { state, epoch, sinceMs } = circuit;
  const { calls, failures, slow } = circuit.counts;
  return {
    state,
    granted,
    epoch,
    waitMs: circuit.waitMs(rule, nowMs),
    sinceMs: nowMs - sinceMs,
    calls,
    failures,
    slow,
  };
}

/** Counts a batch; whether any of it belongs to the window. */
function takeIn(circuit: Circuit, { rule, batch }: Pick<Handed, "rule" | "batch">, nowMs: number): boolean {
  let isAny = false;
  for (let at = 0; at < batch.length; at += 4) {
    const [ageMs, calls, failures, slow] = [batch[at]!, batch[at + 1]!, batch[at + 2]!, batch[at + 3]!];
    if (circuit.count(rule, nowMs - ageMs, calls, failures, slow, nowMs)) isAny = true;
  }
  return isAny;
}

/** One more than there is room for takes the place of those that were silent for long, or longest. */
function remember(processes: Kept["processes"], id: string, sequence: number, spanMs: number, nowMs: number): void {
  if (!processes.has(id)) {
    let oldest: string | undefined;
    for (const [other, { atMs }] of processes)
      if (atMs < nowMs - spanMs - law.processLifeMs) processes.delete(other);
      else if (oldest === undefined || atMs < processes.get(oldest)!.atMs) oldest = other;
    if (oldest !== undefined && processes.size >= law.mostProcesses) processes.delete(oldest);
  }
  processes.set(ownText(id), { sequence, atMs: nowMs });
}

/** A closed circuit says nothing any more when its window is empty and no batch of it may come again. */
function expireAtMsOf({ state, untilMs, permits }: Circuit, { rule }: Handed, nowMs: number): number {
  if (state === "closed") return nowMs + rule.spanMs + law.processLifeMs;
  return Math.max(nowMs, untilMs, ...permits.values()) + law.openLifeMs;
}

function tokenOf(id: string, number: number): string {
  return `${id}:${number}`;
}

/** What it takes, or at most takes when so many more of each have been taken in. */
function sizeOf({ circuit, processes }: Kept, moreRecords = 0, moreProbes = 0, moreProcesses = 0): number {
  const { roomBytes, count } = circuit.tally;
  const recordBytes = moreRecords === 0 ? roomBytes : Math.max(roomBytes, RECORD_BYTES * (count + moreRecords));
  const probeBytes = PROBE_BYTES * (circuit.permits.size + moreProbes);
  return KEPT_BYTES + recordBytes + probeBytes + PROCESS_BYTES * (processes.size + moreProcesses);
}
