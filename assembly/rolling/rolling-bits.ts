// Law: a set of ranks below a limit, stored as bits. Level 0 has a bit for each rank. Each higher level has a bit for each
//      word of the level below that is not empty. first(c) is the smallest member >= c, last(c) the largest member < c.
//      Both must exist.
// Domain: limits below 2^29. Bound: exact. A search reads three words, plus up to limit / 2^18 words above 2^18 ranks.
// Source: van Emde Boas trees cut to words of 64 bits, as in Knuth TAOCP 4A, 7.1.3.
//
//   bits:  an empty word | level 0, limit / 64 + 2 words | level 1, a 64th of that + 2 | level 2, a 64th of that + 2      u64 each

/** Number of words in the level above a level of `words` words. */
export function wordsAbove(words: usize): usize {
  return (words >> 6) + 2;
}

export function add(level0: usize, level1: usize, level2: usize, rank: usize): void {
  const at = level0 + ((rank >> 6) << 3);
  const word = load<u64>(at);
  store<u64>(at, word | ((<u64>1) << rank));
  if (word === 0) {
    setBit(level1, rank >> 6);
    setBit(level2, rank >> 12);
  }
}

export function remove(level0: usize, level1: usize, level2: usize, rank: usize): void {
  if (clearBit(level0, rank) === 0 && clearBit(level1, rank >> 6) === 0) clearBit(level2, rank >> 12);
}

export function has(level0: usize, rank: usize): bool {
  return ((load<u64>(level0 + ((rank >> 6) << 3)) >> rank) & 1) !== 0;
}

export function first(level0: usize, level1: usize, level2: usize, from: usize): usize {
  const rest = upward(level0, from);
  return rest !== 0 ? from + <usize>ctz(rest) : firstWord(level0, level1, level2, (from >> 6) + 1);
}

export function last(level0: usize, level1: usize, level2: usize, before: usize): usize {
  const rest = downward(level0, before);
  return rest !== 0 ? before - 1 - <usize>clz(rest) : lastWord(level0, level1, level2, (before - 1) >> 6);
}

/** The bits of at least 57 ranks from `rank` on, bit 0 first. Near a member such a word is rarely empty. */
export function upward(level0: usize, rank: usize): u64 {
  return load<u64>(level0 + (rank >> 3)) >> (rank & 7);
}

/** The bits of at least 57 ranks below `rank`, bit 63 first. */
export function downward(level0: usize, rank: usize): u64 {
  return load<u64>(level0 + ((rank + 7) >> 3) - 8) << ((0 - rank) & 7);
}

/** The smallest member in word `word` of level 0 or a later word. */
function firstWord(level0: usize, level1: usize, level2: usize, word: usize): usize {
  const rest = load<u64>(level1 + ((word >> 6) << 3)) >> word;
  if (rest !== 0) return lowest(level0, word + <usize>ctz(rest));
  const above = (word >> 6) + 1;
  let at = above >> 6;
  let top = load<u64>(level2 + (at << 3)) & ((<u64>-1) << above);
  while (top === 0) top = load<u64>(level2 + (++at << 3));
  return lowest(level0, lowest(level1, (at << 6) + <usize>ctz(top)));
}

/** The largest member in a word of level 0 before `word`. */
function lastWord(level0: usize, level1: usize, level2: usize, word: usize): usize {
  const before = word - 1;
  const rest = load<u64>(level1 + ((before >> 6) << 3)) << (63 - before);
  if (rest !== 0) return highest(level0, before - <usize>clz(rest));
  const above = (before >> 6) - 1;
  let at = above >> 6;
  let top = load<u64>(level2 + (at << 3)) & (<u64>-1 >> (63 - above));
  while (top === 0) top = load<u64>(level2 + (--at << 3));
  return highest(level0, highest(level1, (at << 6) + 63 - <usize>clz(top)));
}

function lowest(level: usize, word: usize): usize {
  return (word << 6) + <usize>ctz(load<u64>(level + (word << 3)));
}

function highest(level: usize, word: usize): usize {
  return (word << 6) + 63 - <usize>clz(load<u64>(level + (word << 3)));
}

function setBit(level: usize, bit: usize): void {
  const at = level + ((bit >> 6) << 3);
  store<u64>(at, load<u64>(at) | ((<u64>1) << bit));
}

/** Clears the bit and returns the word that remains. */
function clearBit(level: usize, bit: usize): u64 {
  const at = level + ((bit >> 6) << 3);
  const word = load<u64>(at) & ~((<u64>1) << bit);
  store<u64>(at, word);
  return word;
}
