import {
  COMMAND,
  REPLY_BYTES,
  REPLY_CALLS_AT,
  REPLY_EPOCH_AT,
  REPLY_FAILURES_AT,
  REPLY_GRANTED_AT,
  REPLY_SINCE_MS_AT,
  REPLY_SLOW_AT,
  REPLY_STATE_AT,
  REPLY_WAIT_MS_AT,
  STATE,
} from "../../generated/layouts/breaker.ts";
import type { BreakerState } from "./circuit.ts";
import type { Rule, Verdict } from "./rule.ts";

/** An order of `open()` or `close()`. */
export type Command = (typeof COMMAND)[keyof typeof COMMAND];

/** The report of one process to the shared circuit. */
export interface FlushRequest {
  rule: Rule;
  /** The process: 16 characters of ASCII. */
  id: string;
  /** Number of the batch, from 1. The same batch keeps its number. 0: no batch. */
  sequence: number;
  /** Four numbers per record, oldest first: age in ms, calls, failures, slow calls. */
  batch: readonly number[];
  /** The process's probes that have ended. */
  settled: readonly { number: number; verdict: Verdict }[];
  /** Number of probes asked for. They are numbered from `first`. */
  wanted: number;
  first: number;
  command?: Command;
}

/** The state of the shared circuit. */
export interface FlushReply {
  state: BreakerState;
  /** Number of probes granted, of those asked for the first ones. */
  granted: number;
  epoch: number;
  /** Ms until a probe may be granted. */
  waitMs: number;
  /** Age of the window, ms; Infinity if the circuit has never closed. */
  sinceMs: number;
  /** Counts of the window; if the circuit is not closed, the counts that opened it. */
  calls: number;
  failures: number;
  slow: number;
}

const STATES: Record<number, BreakerState> = {
  [STATE.closed]: "closed",
  [STATE.open]: "open",
  [STATE.halfOpen]: "half-open",
};

/** RULE of layouts/breaker.mjs. */
export function ruleBytes(rule: Rule): Uint8Array {
  const { spanMs, tickMs, minimumCalls, failureRatio, slowRatio, failures, cooldownMs, probes, leaseMs } = rule;
  return bytesOf(
    Float64Array.of(spanMs, tickMs, minimumCalls, failureRatio, slowRatio, failures, cooldownMs, probes, leaseMs),
  );
}

/** The process, its report, and its ended probes (REPORT and ENDED_PROBE of layouts/breaker.mjs). */
export function requestBytes({
  id,
  sequence,
  first,
  wanted,
  settled,
  command = COMMAND.none,
}: FlushRequest): Uint8Array {
  const ended = settled.flatMap((each) => [each.number, each.verdict]);
  const numbers = [sequence, first, wanted, command, settled.length, ...ended];
  const bytes = new Uint8Array(id.length + 4 * numbers.length);
  new TextEncoder().encodeInto(id, bytes);
  bytes.set(wholeBytes(numbers), id.length);
  return bytes;
}

export function wholeBytes(numbers: readonly number[]): Uint8Array {
  return bytesOf(Uint32Array.from(numbers));
}

export function readReply(reply: Uint8Array): FlushReply {
  if (reply.length !== REPLY_BYTES) throw new RangeError(`the reply has ${reply.length} bytes, not ${REPLY_BYTES}`);
  const view = new DataView(reply.buffer, reply.byteOffset, reply.length);
  const state = STATES[view.getUint32(REPLY_STATE_AT, true)];
  if (state === undefined)
    throw new RangeError(`the reply has the unknown state ${view.getUint32(REPLY_STATE_AT, true)}`);
  return {
    state,
    granted: view.getUint32(REPLY_GRANTED_AT, true),
    epoch: view.getFloat64(REPLY_EPOCH_AT, true),
    waitMs: view.getFloat64(REPLY_WAIT_MS_AT, true),
    sinceMs: view.getFloat64(REPLY_SINCE_MS_AT, true),
    calls: view.getFloat64(REPLY_CALLS_AT, true),
    failures: view.getFloat64(REPLY_FAILURES_AT, true),
    slow: view.getFloat64(REPLY_SLOW_AT, true),
  };
}

/** All supported machines are little-endian, as the steps are. */
function bytesOf({ buffer }: Float64Array | Uint32Array): Uint8Array {
  return new Uint8Array(buffer);
}
