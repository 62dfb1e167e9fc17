/** The largest Integer of a structured field (RFC 9651, 3.3.1). */
const MAX_INTEGER = 999_999_999_999_999;

/** An Integer: rounded down, from 0 to the format's maximum. */
export function sfInteger(value: number): string {
  return String(Math.min(Math.max(Math.floor(value), 0), MAX_INTEGER));
}

/**
 * The characters of a String. Others, and "%", are percent-encoded as UTF-8, so that different names stay different.
 */
export function sfText(text: string): string {
  return text.replace(/[^\x20-$&-~]+/g, (part) =>
    Array.from(new TextEncoder().encode(part), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join(
      "",
    ),
  );
}

/** A String, quoted (RFC 9651, 4.1.6). */
export function sfString(text: string): string {
  return `"${sfText(text).replace(/["\\]/g, "\\$&")}"`;
}

/** A Byte Sequence (RFC 9651, 4.1.8). Text becomes UTF-8. */
export function sfBytes(value: string | Uint8Array): string {
  const bytes = typeof value === "string" ? new TextEncoder().encode(value) : value;
  return `:${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))}:`;
}
