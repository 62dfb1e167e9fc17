/** The largest Integer a structured field may hold (RFC 9651, 3.3.1). */
const MOST = 999_999_999_999_999;

/** An Integer: floored, from 0 to what the format can say. */
export function sfInteger(value: number): string {
  return String(Math.min(Math.max(Math.floor(value), 0), MOST));
}

/** A String's characters: those it cannot hold, and "%", are percent-encoded as UTF-8, so that names stay different. */
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

/** A Byte Sequence (RFC 9651, 4.1.8); text is taken as UTF-8. */
export function sfBytes(value: string | Uint8Array): string {
  const bytes = typeof value === "string" ? new TextEncoder().encode(value) : value;
  return `:${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))}:`;
}
