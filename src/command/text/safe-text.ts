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
