// Shortens the text of a script: no comments, no needless spaces, short names for locals and for fields of tables.
//
// A name gets one short name, everywhere. Two locals share a short name only if no block sees both, so each occurrence
// means what it meant. Fields of tables are replaced in the same way, apart from locals; each has a short name of its own.

const KEYWORDS = new Set(
  "and break do else elseif end false for function if in local nil not or repeat return then true until while".split(
    " ",
  ),
);
/** Their functions keep their names. */
const LIBRARIES = new Set(["redis", "string", "math", "table", "struct", "cmsgpack", "bit"]);
/** Fields that Redis and Lua give or read. */
const GIVEN_FIELDS = new Set(["err", "ok", "__index", "function_name", "callback", "flags"]);
const OPENING = new Set(["{", "(", "[", "function", "do", "then", "repeat"]);
/** An `elseif` has a `then` of its own; an `else` stays in the block of the last one. */
const CLOSING = new Set(["}", ")", "]", "end", "until", "elseif"]);

const TOKEN =
  /\s+|--[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[A-Za-z_]\w*|\d+\.?\d*(?:[eE][+-]?\d+)?|\.\.\.|\.\.|[=~<>]=|[-+*/%^#<>=(){}[\];:,.]/y;

/**
 * The tokens of a text, without spaces and comments, each with the block that it stands in. `kind` is "local" for the name
 * of any variable, "field", "string" or undefined.
 */
function tokensOf(text) {
  const tokens = [];
  for (TOKEN.lastIndex = 0; TOKEN.lastIndex < text.length; ) {
    const at = TOKEN.lastIndex;
    const [word] = TOKEN.exec(text) ?? [];
    if (word === undefined) throw new Error(`this is not Lua: ${JSON.stringify(text.slice(at, at + 40))}`);
    if (!/^(\s|--)/.test(word)) tokens.push({ word, kind: /^["']/.test(word) ? "string" : undefined });
  }
  let block = { opening: "" };
  for (const [i, token] of tokens.entries()) {
    const { word } = token;
    const before = tokens[i - 1]?.word;
    if (CLOSING.has(word)) block = block.outer;
    token.block = block;
    if (/^[A-Za-z_]/.test(word) && !KEYWORDS.has(word)) {
      const isKey = block.opening === "{" && tokens[i + 1]?.word === "=";
      token.kind = isKey || before === "." || before === ":" ? "field" : "local";
      if (before === "." && LIBRARIES.has(tokens[i - 2].word)) token.kind = undefined;
    }
    if (OPENING.has(word)) block = { opening: word, outer: block };
  }
  return tokens;
}

/** Calls `declare(name, block)` for each local that the tokens declare. */
function eachLocal(tokens, declare) {
  const list = (from, block = tokens[from].block) => {
    for (let i = from; tokens[i].kind === "local"; i += 2) {
      declare(tokens[i].word, block);
      if (tokens[i + 1].word !== ",") return;
    }
  };
  for (const [i, { word, block }] of tokens.entries()) {
    if (word === "local" && tokens[i + 1].word === "function") declare(tokens[i + 2].word, block);
    else if (word === "local" || word === "for") list(i + 1);
    else if (word === "function") {
      // Parameters belong to the block of the function, inside the parentheses too.
      const from = tokens.findIndex((token, at) => at > i && token.word === "(") + 1;
      list(from, tokens[from].block.outer);
    }
  }
}

/** For each local the names that some block sees together with it. */
function neighboursOf(texts) {
  const neighbours = new Map();
  for (const tokens of texts) {
    const byBlock = new Map();
    eachLocal(tokens, (name, block) => byBlock.set(block, (byBlock.get(block) ?? new Set()).add(name)));
    for (const [block, names] of byBlock)
      for (let around = block; around; around = around.outer)
        for (const other of byBlock.get(around) ?? [])
          for (const name of names) {
            for (const [one, two] of [
              [name, other],
              [other, name],
            ])
              neighbours.set(one, (neighbours.get(one) ?? new Set()).add(two));
          }
  }
  return neighbours;
}

const LETTERS = [..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"];
const SHORT = [
  ...LETTERS,
  ...LETTERS.flatMap((first) => [...LETTERS, ..."0123456789"].map((second) => first + second)),
].filter((name) => !KEYWORDS.has(name));

/** Short names, the shortest for what is named most; `taken(name, short)`: whether it may not have that one. */
function shortest(words, isTaken) {
  const counts = new Map();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  const short = new Map();
  for (const [name] of [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1)))
    short.set(
      name,
      SHORT.find((each) => !isTaken(name, each, short)),
    );
  return short;
}

/** Short names for all that the texts declare. */
export function namesFor(texts) {
  const parsed = texts.map(tokensOf);
  const all = parsed.flat();
  const wordsOf = (kind) => all.filter((token) => token.kind === kind).map(({ word }) => word);
  const neighbours = neighboursOf(parsed);
  const locals = wordsOf("local");
  const globals = new Set(locals.filter((name) => !neighbours.has(name)));
  // A field that is also a string somewhere may be asked for by it.
  const kept = new Set([...GIVEN_FIELDS, ...wordsOf("string").map((text) => text.slice(1, -1))]);
  const fields = wordsOf("field");
  const used = new Set(fields.filter((name) => kept.has(name)));
  return {
    local: shortest(
      locals.filter((name) => neighbours.has(name)),
      (name, each, short) => globals.has(each) || [...neighbours.get(name)].some((other) => short.get(other) === each),
    ),
    field: shortest(
      fields.filter((name) => !kept.has(name)),
      (_name, each) => used.has(each) || !used.add(each),
    ),
  };
}

/** The text with these names, which `namesFor` made of it, or of it and others. */
export function minifyLua(text, names) {
  let short = "";
  for (const { word, kind } of tokensOf(text)) {
    const next = names[kind]?.get(word) ?? word;
    const isOneWord = /\w$/.test(short) && /^\w/.test(next);
    // A digit and dots would be one number, two dashes a comment.
    const isOther = (/\d$/.test(short) && next.startsWith(".")) || (short.endsWith("-") && next === "-");
    short += isOneWord || isOther ? ` ${next}` : next;
  }
  return short;
}
