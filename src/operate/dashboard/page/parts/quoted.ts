/** Controls, line separators, signs that change the order of text, and halves of characters: as src/command/text/safe-text.ts. */
const HARMFUL = /[\p{Cc}\p{Surrogate}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;
const MAX_CHARACTERS = 200;

/** A foreign text inside a sentence: in quotes, with harmful characters as `\u202e`, and cut if it is long. */
export function quoted(text: string): string {
  const cut = text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
  return escaped(JSON.stringify(cut));
}

/** With harmful characters as `\u202e`. */
export function escaped(text: string): string {
  return text.replace(HARMFUL, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
