import {
  ANSWER_BEGUN_TRIALS_AT,
  ANSWER_BYTES,
  ANSWER_IS_ALONE_AT,
  ANSWER_IS_RELEASED_AT,
  ANSWER_NEXT_MS_AT,
  FORMAT,
  GRANTED_BYTES,
  GRANTED_NUMBER_AT,
  HEAD_BYTES,
  HEAD_COUNT_AT,
  HEAD_FORMAT_AT,
  HEAD_LAST_AT,
  HOLD_BYTES,
  HOLD_END_MS_AT,
  HOLD_IS_ON_TRIAL_AT,
  HOLD_LENGTH,
  HOLD_NUMBER_AT,
  HOLD_PERMITS_AT,
  LOOKED_BYTES,
  LOOKED_NOW_MS_AT,
  PLACE_BYTES,
  PLACE_LEASE_MS_AT,
  PLACE_LENGTH,
  PLACE_LIMIT_AT,
  PLACE_PERMITS_AT,
  TOKEN_LENGTH,
} from "../../generated/layouts/hold.ts";
import { forgetScript, leaveScript, lookScript, renewScript, takeScript } from "../../generated/scripts/hold.ts";
import type { Operation } from "../../store/contract.ts";
import { type Answer, type State, type StoredHold, stateIn, type Ticket, Turn } from "./state.ts";

interface Take {
  process: string;
  /** In order of arrival. */
  tickets: readonly Ticket[];
  /** True if the tickets that are not served get a place in the queue. */
  mayWait: boolean;
  /** True if there is one ticket, and nobody is known to hold the name or to wait. */
  isGuess: boolean;
}

interface Leave {
  process: string;
  token: string;
  /** The number of its hold, if nobody else is known to hold the name or to wait. */
  number: number | undefined;
}

const ASCII = new TextDecoder("latin1");

/** Takes holds for the waiters of a process. lua/hold/take.lua states the rules. */
export const take: Operation<Take, Answer> = {
  name: "hold/take",
  script: takeScript,
  arity: 4,
  keyCount: 1,
  repeatable: true,
  encode: ({ process, tickets, mayWait, isGuess }) => [process, isGuess ? 1 : 0, mayWait ? 1 : 0, bytesOf(tickets)],
  decode: answerOf,
  local(keys, key, { process, tickets, mayWait }, nowMs) {
    const turn = new Turn(keys, key, process, nowMs);
    turn.serve();
    for (const ticket of tickets) turn.ask(ticket, mayWait);
    return turn.save(false);
  },
};

/** Ends a hold, or gives up a place. lua/hold/leave.lua states the rules. */
export const leave: Operation<Leave, Answer> = {
  name: "hold/leave",
  script: leaveScript,
  arity: 3,
  keyCount: 1,
  repeatable: false,
  encode: ({ process, token, number }) => [process, token, number ?? ""],
  decode: answerOf,
  local(keys, key, { process, token, number }, nowMs) {
    const turn = new Turn(keys, key, process, nowMs);
    if (number !== undefined) turn.restore(number);
    const isReleased = turn.remove(token);
    turn.serve();
    return turn.save(isReleased);
  },
};

/** Extends a hold to last at least until now + lease, if it is still held. lua/hold/renew.lua states the rules. */
export const renew: Operation<{ token: string; leaseMs: number }, boolean> = {
  name: "hold/renew",
  script: renewScript,
  arity: 2,
  keyCount: 1,
  repeatable: true,
  encode: ({ token, leaseMs }) => [token, leaseMs],
  decode: (reply) => reply[0] === 1,
  local: (keys, key, { token, leaseMs }, nowMs) => new Turn(keys, key, "", nowMs).renew(token, leaseMs),
};

/** Deletes the state of a name that nobody holds or waits for, or that is damaged. lua/hold/forget.lua states the rules. */
export const forget: Operation<void, boolean> = {
  name: "hold/forget",
  script: forgetScript,
  arity: 0,
  keyCount: 1,
  repeatable: true,
  encode: () => [],
  decode: (reply) => reply[0] === 1,
  local(keys, key) {
    const state = stateIn(keys, key);
    if (!state || state.holds.length > 0 || state.places.length > 0) return false;
    keys.delete(key);
    return true;
  },
};

/** A state with the time at which it was read. */
export interface Looked extends State {
  readonly nowMs: number;
}

/** Reads the state of a name. lua/hold/look.lua states the rules. */
export const look: Operation<void, Looked> = {
  name: "hold/look",
  script: lookScript,
  arity: 0,
  keyCount: 1,
  repeatable: true,
  encode: () => [],
  decode(reply) {
    const view = new DataView(reply.buffer, reply.byteOffset, reply.byteLength);
    const nowMs = view.getFloat64(LOOKED_NOW_MS_AT, true);
    if (reply.length === LOOKED_BYTES) return { nowMs, last: 0, holds: [], places: [] };
    const state = new DataView(reply.buffer, reply.byteOffset + LOOKED_BYTES, reply.byteLength - LOOKED_BYTES);
    return { nowMs, ...stateOf(state) };
  },
  local(keys, key, _input, nowMs) {
    const { last = 0, holds = [], places = [] } = stateIn(keys, key) ?? {};
    return { nowMs, last, holds, places };
  },
};

function bytesOf(tickets: readonly Ticket[]): Uint8Array {
  const bytes = new Uint8Array(PLACE_LENGTH * tickets.length);
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const { token, permits, limit, leaseMs } of tickets) {
    view.setUint32(at + PLACE_PERMITS_AT, permits, true);
    view.setUint32(at + PLACE_LIMIT_AT, limit, true);
    view.setUint32(at + PLACE_LEASE_MS_AT, leaseMs, true);
    for (let i = 0; i < TOKEN_LENGTH; i++) bytes[at + PLACE_BYTES + i] = token.charCodeAt(i);
    at += PLACE_LENGTH;
  }
  return bytes;
}

function answerOf(reply: Uint8Array): Answer {
  const view = new DataView(reply.buffer, reply.byteOffset, reply.byteLength);
  const granted: { token: string; number: number }[] = [];
  for (let at = ANSWER_BYTES; at < reply.length; at += GRANTED_BYTES + TOKEN_LENGTH)
    granted.push({ token: tokenAt(view, at + GRANTED_BYTES), number: view.getFloat64(at + GRANTED_NUMBER_AT, true) });
  return {
    isReleased: view.getUint8(ANSWER_IS_RELEASED_AT) === 1,
    isAlone: view.getUint8(ANSWER_IS_ALONE_AT) === 1,
    begunTrials: view.getUint16(ANSWER_BEGUN_TRIALS_AT, true),
    nextMs: view.getFloat64(ANSWER_NEXT_MS_AT, true),
    granted,
  };
}

/** Parses a state. */
function stateOf(view: DataView): State {
  const isWhole = view.byteLength >= HEAD_BYTES && view.getUint8(HEAD_FORMAT_AT) === FORMAT;
  const holdsEnd = isWhole ? HEAD_BYTES + HOLD_LENGTH * view.getUint32(HEAD_COUNT_AT, true) : 0;
  const placesBytes = view.byteLength - holdsEnd;
  if (!isWhole || placesBytes < 0 || placesBytes % PLACE_LENGTH !== 0)
    throw new RangeError("it is not the state of a hold");
  const holds: StoredHold[] = [];
  for (let at = HEAD_BYTES; at < holdsEnd; at += HOLD_LENGTH)
    holds.push({
      token: tokenAt(view, at + HOLD_BYTES),
      number: view.getFloat64(at + HOLD_NUMBER_AT, true),
      permits: view.getUint32(at + HOLD_PERMITS_AT, true),
      endMs: view.getFloat64(at + HOLD_END_MS_AT, true),
      isOnTrial: view.getUint8(at + HOLD_IS_ON_TRIAL_AT) === 1,
    });
  const places: Ticket[] = [];
  for (let at = holdsEnd; at < view.byteLength; at += PLACE_LENGTH)
    places.push({
      token: tokenAt(view, at + PLACE_BYTES),
      permits: view.getUint32(at + PLACE_PERMITS_AT, true),
      limit: view.getUint32(at + PLACE_LIMIT_AT, true),
      leaseMs: view.getUint32(at + PLACE_LEASE_MS_AT, true),
    });
  return { last: view.getFloat64(HEAD_LAST_AT, true), holds, places };
}

function tokenAt(view: DataView, at: number): string {
  return ASCII.decode(new Uint8Array(view.buffer, view.byteOffset + at, TOKEN_LENGTH));
}
