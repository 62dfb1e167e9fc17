import { argumentError, OrielError } from "../../base/errors.ts";
import { ownView } from "../../base/realm.ts";
import {
  ENVELOPE_BYTES,
  ENVELOPE_FIRST_PAUSE_MS_AT,
  ENVELOPE_LONGEST_PAUSE_S_AT,
  ENVELOPE_MAX_DELIVERIES_AT,
  ENVELOPE_NONCE_AT,
  ENVELOPE_PAUSE_FACTOR_AT,
  ENVELOPE_PAYLOAD_AT,
  ENVELOPE_PRIORITY_AT,
  MAX_PRIORITY,
  PAYLOAD,
} from "../../generated/layouts/queue.ts";
import type { Backoff } from "../backoff.ts";
import { envelopeOf } from "./layout.ts";

const MAX_PAYLOAD_BYTES = 2 ** 19;
const MAX_ATTEMPTS = 100;

/** A message, stored and sent unchanged: ENVELOPE of layouts/queue.mjs, then the payload. */
export interface Envelope {
  attempts: number;
  priority: number;
  backoff: Backoff;
  payload: unknown;
}

const encoder = new TextEncoder();
/** Rejects invalid UTF-8, so that no payload is changed silently. */
const decoder = new TextDecoder("utf-8", { fatal: true });

/** Throws ARGUMENT if the payload is neither bytes nor a JSON value, or is longer than 512 KiB. */
export function packEnvelope({ attempts, priority, backoff, payload: given }: Envelope): Uint8Array {
  const payload = ownView(given);
  const isBytes = payload instanceof Uint8Array;
  const content = isBytes ? payload : encoder.encode(jsonOf(payload));
  if (content.length > MAX_PAYLOAD_BYTES)
    throw argumentError("payload", `${content.length} bytes`, `at most ${MAX_PAYLOAD_BYTES} bytes`);
  const bytes = new Uint8Array(ENVELOPE_BYTES + content.length);
  const view = new DataView(bytes.buffer);
  bytes[ENVELOPE_MAX_DELIVERIES_AT] = attempts;
  bytes[ENVELOPE_PRIORITY_AT] = priority;
  bytes[ENVELOPE_PAYLOAD_AT] = isBytes ? PAYLOAD.bytes : PAYLOAD.json;
  view.setFloat64(ENVELOPE_FIRST_PAUSE_MS_AT, backoff.firstMs);
  view.setFloat64(ENVELOPE_PAUSE_FACTOR_AT, backoff.factor);
  view.setUint32(ENVELOPE_LONGEST_PAUSE_S_AT, Math.ceil(backoff.longestMs / 1000));
  view.setUint32(ENVELOPE_NONCE_AT, newNonce());
  bytes.set(content, ENVELOPE_BYTES);
  return bytes;
}

/** Nonces of a process begin at a random number. All copies of a request have the same ones, and other requests have others. */
function newNonce(): number {
  lastNonce ??= crypto.getRandomValues(new Uint32Array(1))[0]!;
  lastNonce = (lastNonce + 1) >>> 0;
  return lastNonce;
}

let lastNonce: number | undefined;

/** The member of a cancelled message in `times`. The twin of cancelled_member in lua/queue/layout.lua. */
export function cancelledMember(envelope: Uint8Array, id: string): string {
  const bytes = Array.from({ length: 4 }, (_, i) => envelope[ENVELOPE_NONCE_AT + i] ?? 0);
  return `^${bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("")}${id}`;
}

/** Throws CORRUPT, with the reason, for bytes that no queue has written. */
export function readEnvelope(bytes: Uint8Array): Envelope {
  if (bytes.length < ENVELOPE_BYTES)
    throw noMessage(`it has ${bytes.length} bytes, and a message ${ENVELOPE_BYTES} or more`);
  if (bytes.length > ENVELOPE_BYTES + MAX_PAYLOAD_BYTES)
    throw noMessage(`its payload is above ${MAX_PAYLOAD_BYTES} bytes`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const attempts = bytes[ENVELOPE_MAX_DELIVERIES_AT]!;
  const priority = bytes[ENVELOPE_PRIORITY_AT]!;
  const kind = bytes[ENVELOPE_PAYLOAD_AT]!;
  if (attempts < 1 || attempts > MAX_ATTEMPTS) throw noMessage(`it has ${attempts} deliveries`);
  if (priority > MAX_PRIORITY) throw noMessage(`its priority is ${priority}`);
  const backoff = {
    firstMs: view.getFloat64(ENVELOPE_FIRST_PAUSE_MS_AT),
    factor: view.getFloat64(ENVELOPE_PAUSE_FACTOR_AT),
    longestMs: view.getUint32(ENVELOPE_LONGEST_PAUSE_S_AT) * 1000,
  };
  if (!(backoff.firstMs >= 0 && backoff.factor >= 1)) throw noMessage("its backoff is none");
  if (kind !== PAYLOAD.bytes && kind !== PAYLOAD.json) throw noMessage(`its payload is of an unknown kind, ${kind}`);
  return { attempts, priority, backoff, payload: payloadOf(kind, bytes.subarray(ENVELOPE_BYTES)) };
}

/** The bytes found instead of a message; all of them if they were not moved yet. */
export function rawOf(value: Uint8Array): Uint8Array {
  const envelope = envelopeOf(value);
  return envelope[ENVELOPE_PAYLOAD_AT] === PAYLOAD.raw && envelope.length >= ENVELOPE_BYTES
    ? envelope.subarray(ENVELOPE_BYTES)
    : value;
}

/** The envelope of a value that is not a message, as kept among the dead letters. The twin of lua/queue/bury-corrupt.lua. */
export function rawEnvelope(value: Uint8Array): Uint8Array {
  const envelope = envelopeOf(value);
  if (envelope[ENVELOPE_PAYLOAD_AT] === PAYLOAD.raw) return envelope;
  const bytes = new Uint8Array(ENVELOPE_BYTES + value.length);
  bytes[ENVELOPE_MAX_DELIVERIES_AT] = 1;
  bytes[ENVELOPE_PAYLOAD_AT] = PAYLOAD.raw;
  bytes.set(value, ENVELOPE_BYTES);
  return bytes;
}

function payloadOf(kind: number, content: Uint8Array): unknown {
  // A copy. The slice of a Buffer would be a view.
  if (kind === PAYLOAD.bytes) return new Uint8Array(content);
  try {
    return JSON.parse(decoder.decode(content));
  } catch (cause) {
    throw noMessage("its payload is no JSON", cause);
  }
}

export function noMessage(why: string, cause?: unknown): OrielError {
  return new OrielError("CORRUPT", why, { cause });
}

function jsonOf(payload: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(payload);
  } catch {
    // JSON.stringify throws for cycles and bigints.
  }
  if (text === undefined) throw payloadError(payload);
  return text;
}

/** Maximum nesting. Beyond it `JSON.stringify` runs out of stack in some runtimes. */
const DEEPEST = 1000;

/** The error for a payload that JSON cannot represent. It names the path of the first such value. */
function payloadError(payload: unknown): OrielError {
  return faultIn(payload, "payload", []) ?? argumentError("payload", payload, "a JSON value or bytes");
}

function faultIn(value: unknown, path: string, above: readonly object[]): OrielError | undefined {
  if (typeof value === "bigint")
    return argumentError(shortened(path), value, "a string or a number, because JSON has no bigint");
  if (typeof value !== "object" || value === null) return undefined;
  if (above.includes(value)) return argumentError(shortened(path), value, "a value that does not contain itself");
  if (above.length === DEEPEST) return argumentError("payload", value, `at most ${DEEPEST} objects deep`);
  const within = [...above, value];
  for (const name of Object.keys(value)) {
    const step = Array.isArray(value) ? `[${name}]` : `.${name.slice(0, 60)}`;
    let inner: unknown;
    try {
      inner = (value as Record<string, unknown>)[name];
    } catch {
      return argumentError(shortened(path + step), undefined, "what can be read: its getter throws");
    }
    const fault = faultIn(inner, path + step, within);
    if (fault) return fault;
  }
  return undefined;
}

/** The beginning and the end of a long path. */
function shortened(path: string): string {
  return path.length <= 200 ? path : `${path.slice(0, 100)}...${path.slice(-97)}`;
}
