import { COMMAND, EPOCH_MODULUS, OPEN_LIFE_MS, PROCESS_LIFE_MS } from "../../generated/layouts/breaker.ts";
import { flushScript } from "../../generated/scripts/breaker.ts";
import type { Operation, Store } from "../../store/contract.ts";
import { ARRAY_BYTES, SLOT_BYTES } from "../../store/memory/heap-bytes.ts";
import { Census } from "./census.ts";
import { Circuit } from "./circuit.ts";
import { type FlushReply, type FlushRequest, readReply, requestBytes, ruleBytes, wholeBytes } from "./flush-format.ts";
import { hasQuorum } from "./rule.ts";
import { Turns } from "./turns.ts";

/** The key of a circuit. Breakers with another span have another one. */
export function circuitKeyOf(store: Pick<Store, "keyOf">, name: string, spanMs: number): string {
  return `${store.keyOf(name)}:breaker:${spanMs}`;
}

/** The value under a breaker's key in a memory store. */
interface BreakerRecord {
  circuit: Circuit;
  census: Census;
  turns: Turns;
}

/** One record, in an array that may have room for as many again. */
const RECORD_BYTES = 64;
const EMPTY_RECORD_BYTES = 3 * ARRAY_BYTES + 1500;
const PROBE_BYTES = SLOT_BYTES + 72;
const PROCESS_BYTES = SLOT_BYTES + 180;

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
    const record = (keys.get(key) as BreakerRecord | undefined) ?? newRecord(nowMs);
    const sizeBytes = sizeOf(record, request.batch.length / 4, request.wanted, 1);
    keys.set(key, record, sizeBytes, Number.POSITIVE_INFINITY);
    const reply = step(record, request, nowMs);
    keys.set(key, record, sizeOf(record), expireAtMsOf(record.circuit, request, nowMs));
    return reply;
  },
};

function newRecord(nowMs: number): BreakerRecord {
  const census = new Census(nowMs);
  const turns = new Turns(census);
  return { circuit: new Circuit(nowMs, census, turns), census, turns };
}

function step({ circuit, census }: BreakerRecord, request: FlushRequest, nowMs: number): FlushReply {
  const { rule, id, settled, wanted, first, command = COMMAND.none, forMs = 0 } = request;
  circuit.advance(rule, nowMs);
  for (const { number, verdict } of settled) circuit.settle(rule, tokenOf(id, number), verdict, nowMs);
  circuit.obey(rule, command, forMs, nowMs);
  const place = takeBatch({ circuit, census }, request, nowMs);
  const tokens = Array.from({ length: wanted }, (_, i) => tokenOf(id, first + i));
  const granted = circuit.grantProbes(rule, tokens, nowMs);
  const { state, epoch, sinceMs, heldUntilMs, cause } = circuit;
  const { calls, failures, slow } = circuit.counts;
  return {
    state,
    granted,
    epoch,
    waitMs: circuit.waitMs(rule, nowMs, id),
    sinceMs: nowMs - sinceMs,
    calls,
    failures,
    slow,
    heldMs: Math.max(0, heldUntilMs - nowMs),
    cause,
    place,
    callers: census.callers,
    seeing: census.seeing,
  };
}

/** Counts a batch and its process, unless the batch has come before, and decides. Returns the place of the process. */
function takeBatch({ circuit, census }: Omit<BreakerRecord, "turns">, request: FlushRequest, nowMs: number): number {
  const { rule, id, sequence, batch, sees = false, window = 0, place = 0 } = request;
  if (sequence === 0) return place;
  const known = census.placeOf(id);
  if (known !== undefined && sequence <= census.sequenceAt(known)) return known;
  const epoch = circuit.state === "closed" ? circuit.epoch : undefined;
  const isOfWindow = window === 0 || window === circuit.epoch % EPOCH_MODULUS;
  const counted = census.remember(rule, id, sequence, sees && isOfWindow, epoch);
  const isAny = addBatch(circuit, { rule, batch }, nowMs);
  if (isAny || hasQuorum(rule)) circuit.decide(rule, nowMs);
  return counted;
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

/** A closed circuit expires when its window is empty, no order holds, and none of its batches can come again. */
function expireAtMsOf({ state, untilMs, heldUntilMs, probes }: Circuit, { rule }: FlushRequest, nowMs: number): number {
  if (state === "closed") return Math.max(heldUntilMs, nowMs + rule.spanMs + PROCESS_LIFE_MS);
  return Math.max(nowMs, untilMs, ...probes.values()) + OPEN_LIFE_MS;
}

function tokenOf(id: string, number: number): string {
  return `${id}:${number}`;
}

/** Memory of a record, or an upper bound of it after the given numbers are added. */
function sizeOf({ circuit, census, turns }: BreakerRecord, moreRecords = 0, moreProbes = 0, moreProcesses = 0): number {
  const { roomBytes, count } = circuit.tally;
  const recordBytes = moreRecords === 0 ? roomBytes : Math.max(roomBytes, RECORD_BYTES * (count + moreRecords));
  const probeBytes = PROBE_BYTES * (circuit.probes.size + turns.size + moreProbes);
  return EMPTY_RECORD_BYTES + recordBytes + probeBytes + PROCESS_BYTES * (census.size + moreProcesses);
}
