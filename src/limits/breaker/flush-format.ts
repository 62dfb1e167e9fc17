import {
  CAUSE,
  COMMAND,
  REPLY_BYTES,
  REPLY_CALLERS_AT,
  REPLY_CALLS_AT,
  REPLY_CAUSE_AT,
  REPLY_EPOCH_AT,
  REPLY_FAILURES_AT,
  REPLY_GRANTED_AT,
  REPLY_HELD_MS_AT,
  REPLY_PLACE_AT,
  REPLY_SEEING_AT,
  REPLY_SINCE_MS_AT,
  REPLY_SLOW_AT,
  REPLY_STATE_AT,
  REPLY_WAIT_MS_AT,
  STATE,
} from "../../generated/layouts/breaker.ts";
import type { BreakerState } from "./circuit.ts";
import type { Cause, Command, Rule, Verdict, Voices, WindowCounts } from "./rule.ts";

/** The report of one process to the shared circuit. */
export interface FlushRequest {
  rule: Rule;
  /** The process: 16 characters of ASCII. */
  id: string;
  /** The place of the process, as the last reply had it. 0, the default: unknown. */
  place?: number;
  /** Whether the calls of this process alone meet the rule, with any number of them; default false. */
  sees?: boolean;
  /** The epoch of these calls, modulo EPOCH_MODULUS; 0, the default: unknown. In another window the process sees nothing. */
  window?: number;
  /** Number of the batch, from 1. The same batch keeps its number. 0: no batch. A batch may have no records. */
  sequence: number;
  /** Four numbers per record, oldest first: age in ms, calls, failures, slow calls. */
  batch: readonly number[];
  /** The process's probes that have ended. */
  settled: readonly { number: number; verdict: Verdict }[];
  /** Number of probes asked for. They are numbered from `first`. */
  wanted: number;
  first: number;
  command?: Command;
  /** How long the order holds; 0, the default: open for a cooldown, or closed for no time. */
  forMs?: number;
}

/** The state of the shared circuit. Counts are those of the window; if the circuit is not closed, those that opened it. */
export interface FlushReply extends WindowCounts, Voices {
  state: BreakerState;
  /** Number of probes granted, of those asked for the first ones. */
  granted: number;
  epoch: number;
  /** Ms until a probe may be granted. */
  waitMs: number;
  /** Age of the window, ms; Infinity if the circuit has never closed. */
  sinceMs: number;
  /** Ms for which an order keeps a closed circuit closed. */
  heldMs: number;
  cause: Cause;
  /** The place of the process; 0 if it has sent no batch. */
  place: number;
}

const STATES: Record<number, BreakerState> = {
  [STATE.closed]: "closed",
  [STATE.open]: "open",
  [STATE.halfOpen]: "half-open",
};

/** RULE of layouts/breaker.mjs. */
export function ruleBytes(rule: Rule): Uint8Array {
  const { spanMs, tickMs, minimumCalls, failureRatio, slowRatio, failures, cooldownMs, probes, leaseMs } = rule;
  const { quorum, factor, longestMs, jitter } = rule;
  const conditions = [minimumCalls, failureRatio, slowRatio, failures];
  return bytesOf(
    Float64Array.of(spanMs, tickMs, ...conditions, cooldownMs, probes, leaseMs, quorum, factor, longestMs, jitter),
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
  forMs = 0,
  place = 0,
  sees = false,
  window = 0,
}: FlushRequest): Uint8Array {
  const ended = settled.flatMap((each) => [each.number, each.verdict]);
  const numbers = [sequence, first, wanted, command, forMs, place, sees ? 1 : 0, window, settled.length, ...ended];
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
  const cause = view.getUint32(REPLY_CAUSE_AT, true);
  return {
    state,
    granted: view.getUint32(REPLY_GRANTED_AT, true),
    epoch: view.getFloat64(REPLY_EPOCH_AT, true),
    waitMs: view.getFloat64(REPLY_WAIT_MS_AT, true),
    sinceMs: view.getFloat64(REPLY_SINCE_MS_AT, true),
    calls: view.getFloat64(REPLY_CALLS_AT, true),
    failures: view.getFloat64(REPLY_FAILURES_AT, true),
    slow: view.getFloat64(REPLY_SLOW_AT, true),
    heldMs: view.getFloat64(REPLY_HELD_MS_AT, true),
    cause: Object.values(CAUSE).find((each) => each === cause) ?? CAUSE.calls,
    place: view.getUint32(REPLY_PLACE_AT, true),
    callers: view.getUint32(REPLY_CALLERS_AT, true),
    seeing: view.getUint32(REPLY_SEEING_AT, true),
  };
}

/** All supported machines are little-endian, as the steps are. */
function bytesOf({ buffer }: Float64Array | Uint32Array): Uint8Array {
  return new Uint8Array(buffer);
}
