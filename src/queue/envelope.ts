import { argumentError } from "../errors.ts";
import type { Backoff } from "./backoff.ts";

const HEAD_BYTES = 24;
const BYTES = 0;
const JSON_TEXT = 1;
export const MOST_PAYLOAD_BYTES = 2 ** 19;

/** What a message says of itself; travels as it is:
 *
 *   u8 most deliveries · u8 priority · u8 payload: 0 bytes, 1 JSON · u8 0
 *   f64 backoff's first pause, ms · f64 its factor · u32 longest pause, s · payload
 */
export interface Envelope {
  attempts: number;
  priority: number;
  backoff: Backoff;
  payload: unknown;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Throws ARGUMENT where the payload is neither bytes nor JSON, or longer than 512 KiB. */
export function packEnvelope({ attempts, priority, backoff, payload }: Envelope): Uint8Array {
  const isBytes = payload instanceof Uint8Array;
  const content = isBytes ? payload : encoder.encode(jsonOf(payload));
  if (content.length > MOST_PAYLOAD_BYTES)
    throw argumentError("payload", `${content.length} bytes`, `at most ${MOST_PAYLOAD_BYTES} bytes`);
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

export function readEnvelope(bytes: Uint8Array): Envelope {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const content = bytes.subarray(HEAD_BYTES);
  return {
    attempts: bytes[0]!,
    priority: bytes[1]!,
    backoff: { firstMs: view.getFloat64(4), factor: view.getFloat64(12), longestMs: view.getUint32(20) * 1000 },
    // A copy, and no Buffer, whose slice would be a view.
    payload: bytes[2] === BYTES ? new Uint8Array(content) : JSON.parse(decoder.decode(content)),
  };
}

function jsonOf(payload: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(payload);
  } catch {
    // What has cycles, or a bigint.
  }
  if (text === undefined) throw argumentError("payload", payload, "what JSON can say, or bytes");
  return text;
}
