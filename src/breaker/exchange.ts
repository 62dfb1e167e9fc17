import type { BreakerState } from "./circuit.ts";
import type { Rule, Verdict } from "./rule.ts";

/** What a process hands in, and what it asks for. */
export interface Handed {
  rule: Rule;
  /** The process: 16 characters of ASCII. */
  id: string;
  /** Of the batch: 1 and up, one more for each; the same for the same batch. 0: there is none. */
  sequence: number;
  /** Four numbers a record, oldest first: age in ms, calls, failures, slow calls. */
  batch: readonly number[];
  /** What became of the process's probes. */
  settled: readonly { number: number; verdict: Verdict }[];
  /** So many probes are asked for, numbered from `first` on. */
  wanted: number;
  first: number;
}

/** The circuit as it stands. */
export interface Answer {
  state: BreakerState;
  /** Of the probes asked for, the first so many may begin. */
  granted: number;
  epoch: number;
  /** After so long asking for a probe is worthwhile. */
  waitMs: number;
  /** For how long the window has been counted; Infinity: since ever. */
  sinceMs: number;
  /** In the window; where the circuit is not closed, what the window held that opened it. */
  calls: number;
  failures: number;
  slow: number;
}

const STATES: readonly BreakerState[] = ["closed", "open", "half-open"];
const ANSWER_BYTES = 56;

export function ruleBytes(rule: Rule): Uint8Array {
  const { spanMs, tickMs, minimumCalls, failureRatio, slowRatio, failures, cooldownMs, probes, leaseMs } = rule;
  return bytesOf(
    Float64Array.of(spanMs, tickMs, minimumCalls, failureRatio, slowRatio, failures, cooldownMs, probes, leaseMs),
  );
}

/** The process, four numbers, then two for each probe that has ended. */
export function wishBytes({ id, sequence, first, wanted, settled }: Handed): Uint8Array {
  const numbers = [sequence, first, wanted, settled.length, ...settled.flatMap((each) => [each.number, each.verdict])];
  const bytes = new Uint8Array(id.length + 4 * numbers.length);
  new TextEncoder().encodeInto(id, bytes);
  bytes.set(wholeBytes(numbers), id.length);
  return bytes;
}

export function wholeBytes(numbers: readonly number[]): Uint8Array {
  return bytesOf(Uint32Array.from(numbers));
}

export function answerOf(reply: Uint8Array): Answer {
  if (reply.length !== ANSWER_BYTES) throw new RangeError("the reply is not of its size");
  const view = new DataView(reply.buffer, reply.byteOffset, reply.length);
  const state = STATES[view.getUint32(0, true)];
  if (state === undefined) throw new RangeError("the reply has no such state");
  const number = (place: number) => view.getFloat64(8 + 8 * place, true);
  return {
    state,
    granted: view.getUint32(4, true),
    epoch: number(0),
    waitMs: number(1),
    sinceMs: number(2),
    calls: number(3),
    failures: number(4),
    slow: number(5),
  };
}

/** The machines that this runs on are little-endian, as the steps are. */
function bytesOf({ buffer }: Float64Array | Uint32Array): Uint8Array {
  return new Uint8Array(buffer);
}
