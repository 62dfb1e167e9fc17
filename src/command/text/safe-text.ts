/**
 * Characters that a terminal acts upon, or that change the order of text: C0 and C1 controls, line and paragraph separators,
 * bidi marks, overrides and isolates. Surrogates without their other half are no characters.
 */
const HARMFUL = /[\p{Cc}\p{Surrogate}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Foreign text for a terminal: harmful characters as `\x1b` or `\u202e`. Cuts a long text. */
export function safeText(text: string, maxLength = 40): string {
  return cutTo(text, maxLength).replace(HARMFUL, (sign) => {
    const code = sign.charCodeAt(0).toString(16);
    return code.length <= 2 ? `\\x${code.padStart(2, "0")}` : `\\u${code.padStart(4, "0")}`;
  });
}

/** The text on one line, whole. */
export function oneLine(text: string): string {
  return safeText(text.trim().replace(/\s*\n\s*/g, " "), Number.POSITIVE_INFINITY);
}

/** JSON text without harmful characters. They can only be inside its strings. */
export function safeJson(json: string): string {
  return json.replace(HARMFUL, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Never between the two halves of a character. */
function cutTo(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const isHalf = /[\ud800-\udbff]/.test(text[maxLength - 2] ?? "");
  return `${text.slice(0, maxLength - (isHalf ? 2 : 1))}…`;
}

/** The value as JSON on one line that controls no terminal. NaN and infinities are null, bytes are base64. */
export function jsonLine(value: unknown): string {
  return `${safeJson(JSON.stringify(value, (_key, each) => plain(each)))}\n`;
}

/** What JSON has no form for. A large whole number is a text. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return { base64: Buffer.from(value).toString("base64") };
  if (typeof value !== "bigint") return value;
  const isExact = value <= BigInt(Number.MAX_SAFE_INTEGER) && value >= BigInt(Number.MIN_SAFE_INTEGER);
  return isExact ? Number(value) : `${value}`;
}

/** Breaks a text at blanks into lines of at most `width` characters. A longer word is cut. */
export function wrapped(text: string, width: number): string[] {
  return (text.match(new RegExp(`\\S.{0,${width - 1}}(?=\\s|$)|\\S{${width}}|\\S+`, "gu")) ?? []).map((line) =>
    line.trimEnd(),
  );
}
