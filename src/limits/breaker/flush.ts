import { COMMAND, MAX_PROCESSES, OPEN_LIFE_MS, PROCESS_LIFE_MS } from "../../generated/layouts/breaker.ts";
import { flushScript } from "../../generated/scripts/breaker.ts";
import type { Operation, Store } from "../../store/contract.ts";
import { ARRAY_BYTES, ownText, SLOT_BYTES } from "../../store/memory/heap-bytes.ts";
import { Circuit } from "./circuit.ts";
import { type FlushReply, type FlushRequest, readReply, requestBytes, ruleBytes, wholeBytes } from "./flush-format.ts";

/** The key of a circuit. Breakers with another span have another one. */
export function circuitKeyOf(store: Pick<Store, "keyOf">, name: string, spanMs: number): string {
  return `${store.keyOf(name)}:breaker:${spanMs}`;
}

/** The value under a breaker's key in a memory store. */
interface BreakerRecord {
  circuit: Circuit;
  /** Each process's last batch, and when it came. */
  processes: Map<string, { sequence: number; atMs: number }>;
}

/** One record, in an array that may have room for as many again. */
const RECORD_BYTES = 64;
const EMPTY_RECORD_BYTES = ARRAY_BYTES + 1000;
const PROBE_BYTES = SLOT_BYTES + 72;
const PROCESS_BYTES = SLOT_BYTES + 112;

/**
 * Adds one process's report to the shared circuit, decides by the reports of all, and returns the circuit's state. The
 * twin of lua/breaker/flush.lua, which states the rules. A batch counts once however often its number is sent. The store
 * does not repeat the step by itself, because the ages in the batch would be wrong.
 */
export const flush: Operation<FlushRequest, FlushReply> = {
  name: "breaker/flush",
  script: flushScript,
  keyCount: 1,
  arity: 3,
  repeatable: false,
  encode: (request) => [ruleBytes(request.rule), requestBytes(request), wholeBytes(request.batch)],
  decode: readReply,
  local(keys, key, request, nowMs) {
    const record = (keys.get(key) as BreakerRecord | undefined) ?? {
      circuit: new Circuit(nowMs),
      processes: new Map(),
    };
    const sizeBytes = sizeOf(record, request.batch.length / 4, request.wanted, 1);
    keys.set(key, record, sizeBytes, Number.POSITIVE_INFINITY);
    const reply = step(record, request, nowMs);
    keys.set(key, record, sizeOf(record), expireAtMsOf(record.circuit, request, nowMs));
    return reply;
  },
};

function step(
  { circuit, processes }: BreakerRecord,
  { rule, id, sequence, batch, settled, wanted, first, command }: FlushRequest,
  nowMs: number,
): FlushReply {
  const behindMs = circuit.advance(rule, nowMs);
  if (behindMs > 0) for (const each of processes.values()) each.atMs -= behindMs;
  for (const { number, verdict } of settled) circuit.settle(rule, tokenOf(id, number), verdict, nowMs);
  if (command === COMMAND.open) circuit.open(rule, nowMs);
  if (command === COMMAND.close) circuit.close(rule, nowMs);
  if (sequence > (processes.get(id)?.sequence ?? 0)) {
    remember(processes, id, sequence, rule.spanMs, nowMs);
    if (addBatch(circuit, { rule, batch }, nowMs)) circuit.decide(rule, nowMs);
  }
  const tokens = Array.from({ length: wanted }, (_, i) => tokenOf(id, first + i));
  const granted = circuit.grantProbes(rule, tokens, nowMs);
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

/** Counts a batch. Returns whether any of it belongs to the window. */
function addBatch(circuit: Circuit, { rule, batch }: Pick<FlushRequest, "rule" | "batch">, nowMs: number): boolean {
  let isAny = false;
  for (let at = 0; at < batch.length; at += 4) {
    const [ageMs, calls, failures, slow] = [batch[at]!, batch[at + 1]!, batch[at + 2]!, batch[at + 3]!];
    if (circuit.count(rule, nowMs - ageMs, calls, failures, slow, nowMs)) isAny = true;
  }
  return isAny;
}

/** Stores a process's last batch. If there is no room, it drops the processes that were silent for long, or else the longest silent one. */
function remember(
  processes: BreakerRecord["processes"],
  id: string,
  sequence: number,
  spanMs: number,
  nowMs: number,
): void {
  if (!processes.has(id)) {
    let oldest: string | undefined;
    for (const [other, { atMs }] of processes)
      if (atMs < nowMs - spanMs - PROCESS_LIFE_MS) processes.delete(other);
      else if (oldest === undefined || atMs < processes.get(oldest)!.atMs) oldest = other;
    if (oldest !== undefined && processes.size >= MAX_PROCESSES) processes.delete(oldest);
  }
  processes.set(ownText(id), { sequence, atMs: nowMs });
}

/** A closed circuit expires when its window is empty and none of its batches can come again. */
function expireAtMsOf({ state, untilMs, probes }: Circuit, { rule }: FlushRequest, nowMs: number): number {
  if (state === "closed") return nowMs + rule.spanMs + PROCESS_LIFE_MS;
  return Math.max(nowMs, untilMs, ...probes.values()) + OPEN_LIFE_MS;
}

function tokenOf(id: string, number: number): string {
  return `${id}:${number}`;
}

/** Memory of a record, or an upper bound of it after the given numbers are added. */
function sizeOf({ circuit, processes }: BreakerRecord, moreRecords = 0, moreProbes = 0, moreProcesses = 0): number {
  const { roomBytes, count } = circuit.tally;
  const recordBytes = moreRecords === 0 ? roomBytes : Math.max(roomBytes, RECORD_BYTES * (count + moreRecords));
  const probeBytes = PROBE_BYTES * (circuit.probes.size + moreProbes);
  return EMPTY_RECORD_BYTES + recordBytes + probeBytes + PROCESS_BYTES * (processes.size + moreProcesses);
}
