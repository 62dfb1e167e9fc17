import { argumentError, OrielError } from "../../errors.ts";
import type { Backoff } from "../backoff.ts";
import { envelopeOf, RAW } from "./layout.ts";
import { payloadError } from "./payload-error.ts";

const HEAD_BYTES = 24;
const BYTES = 0;
const JSON_TEXT = 1;
const MAX_PAYLOAD_BYTES = 2 ** 19;
const MAX_ATTEMPTS = 100;
const MAX_PRIORITY = 9;

/** The encoding of a message, stored and sent unchanged:
 *
 *   u8 most deliveries · u8 priority · u8 payload: 0 bytes, 1 JSON, 2 what was found and is no message · u8 0
 *   f64 backoff's first pause, ms · f64 its factor · u32 longest pause, s · payload
 */
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
export function packEnvelope({ attempts, priority, backoff, payload }: Envelope): Uint8Array {
  const isBytes = payload instanceof Uint8Array;
  const content = isBytes ? payload : encoder.encode(jsonOf(payload));
  if (content.length > MAX_PAYLOAD_BYTES)
    throw argumentError("payload", `${content.length} bytes`, `at most ${MAX_PAYLOAD_BYTES} bytes`);
  const bytes = new Uint8Array(HEAD_BYTES + content.length);
  const view = new DataView(bytes.buffer);
  bytes[0] = attempts;
  bytes[1] = priority;
  bytes[2] = isBytes ? BYTES : JSON_TEXT;
  view.setFloat64(4, backoff.firstMs);
  view.setFloat64(12, backoff.factor);
  view.setUint32(20, Math.ceil(backoff.longestMs / 1000));
  bytes.set(content, HEAD_BYTES);
  return bytes;
}

/** Throws CORRUPT, with the reason, for bytes that no queue has written. */
export function readEnvelope(bytes: Uint8Array): Envelope {
  if (bytes.length < HEAD_BYTES) throw noMessage(`it has ${bytes.length} bytes, and a message ${HEAD_BYTES} or more`);
  if (bytes.length > HEAD_BYTES + MAX_PAYLOAD_BYTES) throw noMessage(`its payload is above ${MAX_PAYLOAD_BYTES} bytes`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const [attempts, priority, kind] = [bytes[0]!, bytes[1]!, bytes[2]!];
  if (attempts < 1 || attempts > MAX_ATTEMPTS) throw noMessage(`it has ${attempts} deliveries`);
  if (priority > MAX_PRIORITY) throw noMessage(`its priority is ${priority}`);
  const backoff = { firstMs: view.getFloat64(4), factor: view.getFloat64(12), longestMs: view.getUint32(20) * 1000 };
  if (!(backoff.firstMs >= 0 && backoff.factor >= 1)) throw noMessage("its backoff is none");
  if (kind !== BYTES && kind !== JSON_TEXT) throw noMessage(`its payload is of an unknown kind, ${kind}`);
  return { attempts, priority, backoff, payload: payloadOf(kind, bytes.subarray(HEAD_BYTES)) };
}

/** The bytes found instead of a message; all of them if they were not moved yet. */
export function rawOf(value: Uint8Array): Uint8Array {
  const envelope = envelopeOf(value);
  return envelope[2] === RAW && envelope.length >= HEAD_BYTES ? envelope.subarray(HEAD_BYTES) : value;
}

/** The envelope of a value that is not a message, as kept among the dead letters. The twin of lua/queue/bury-corrupt.lua. */
export function rawEnvelope(value: Uint8Array): Uint8Array {
  const envelope = envelopeOf(value);
  if (envelope[2] === RAW) return envelope;
  const bytes = new Uint8Array(HEAD_BYTES + value.length);
  bytes[0] = 1;
  bytes[2] = RAW;
  bytes.set(value, HEAD_BYTES);
  return bytes;
}

function payloadOf(kind: number, content: Uint8Array): unknown {
  // A copy. The slice of a Buffer would be a view.
  if (kind === BYTES) return new Uint8Array(content);
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
