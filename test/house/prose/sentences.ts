import type { Prose } from "./texts.js";

/** A sentence of more words needs a second reading. */
const MAX_WORDS = 40;
/** A sentence with more colons and semicolons is a chain of sentences. */
const MAX_COLONS = 2;

/** Complaints about sentences that are too long, or that are chained by colons. */
export function longSentences({ text, isMessage }: Prose): string[] {
  if (isLayout(text) || text.includes("\n")) return []; // a text of several lines is laid out, or code
  return text.split(/(?<=[.!?])\s+(?=[A-Z`"(])/).flatMap((sentence) => {
    const words = sentence.split(/\s+/).filter((word) => /[a-z]/i.test(word)).length;
    const colons = (sentence.match(/[:;](?=\s)/g) ?? []).length;
    if (words > MAX_WORDS) return [`a sentence of ${words} words: ${sentence.slice(0, 80)}`];
    if (colons > MAX_COLONS && !isMessage) return [`${colons} colons in a sentence: ${sentence.slice(0, 80)}`];
    return [];
  });
}

/** Drawings, tables and the layout of a record are read by their columns, not as sentences. */
function isLayout(text: string): boolean {
  return /[·|─│→]|\bu8\b|\bu16\b|\bu32\b|\bf64\b|^(?:KEYS|ARGV|Reply|Cost|Errors)\b/.test(text);
}
