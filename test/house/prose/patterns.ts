/** One way of speaking that readers stumble over. */
export interface BannedPattern {
  pattern: RegExp;
  /** What to write instead. */
  better: string;
}

/**
 * What comments, messages, help texts and documents do not say. Each entry was found in this
 * repository and needed a second reading. Extend the list when you find another.
 */
export const BANNED: BannedPattern[] = [
  { pattern: /\bso many\b/i, better: "the number: `n bytes`, `at most n`" },
  { pattern: /\b(?:un)?told\b|\btells?\b|\btelling\b/i, better: "reports, names, emits, is passed, returns" },
  { pattern: /\blets? go of\b|\blet go\b/i, better: "evicts, drops, frees, releases" },
  { pattern: /\bwhoever\b|\bthose who\b/i, better: "a noun: a caller, a process, a waiter" },
  { pattern: /\b(?:for|of|by|from|to|than|and|or|with) who\b/i, better: "a noun: a caller, a process, a waiter" },
  { pattern: /^Who (?!is\b)|[.:;] Who (?!is\b)/, better: "a noun: `A caller that waits …`" },
  {
    pattern: /^What (?:is|was|has|had|an?|the|it|they|one)\b[^?]*$/,
    better: "the thing itself: `The recorded events …`",
  },
  { pattern: /[.:;] What (?:is|was|has|had|an?|the|it|they|one)\b[^?]*?[.;]/, better: "the thing itself" },
  { pattern: /\bthat which\b|\ball that\b(?! (?:is )?needed)/i, better: "everything that, or a noun" },
  { pattern: /\bas nearly\b/i, better: "the normal case, usually" },
  { pattern: /\b(?:holds?|holding|held) nothing\b/i, better: "is empty, has no cached copy" },
  { pattern: /\bnot known\b/i, better: "unknown" },
  { pattern: /\bis to be\b|\bare to be\b|\bought to\b/i, better: "must, should" },
  { pattern: /\bneed not\b|\bneeds no\b/i, better: "does not need, does not have to" },
  { pattern: /\bbut (?:of|for|by|in|with|what|when|where|those)\b/i, better: "except, only, unless" },
  { pattern: /\bhand(?:s|ed|ing)? (?:in|over|out)\b/i, better: "sends, passes, returns, reports" },
  { pattern: /\bmay as well\b|\bin vain\b|\bnowhere\b|\blest\b|\bgone untold\b/i, better: "plain words" },
  { pattern: /\bmeanwhile\b[^.]*\bmeanwhile\b/i, better: "one `meanwhile` a sentence, or `during the call`" },
  { pattern: /\b(?:where|there|here)(?:upon|by|of|in|from|with)\b|\bhence\b/i, better: "by which, so" },
];
