import ts from "typescript";

/** A piece of text that people read, and where it begins. */
export interface Prose {
  line: number;
  text: string;
  /** True for a string of the program, whose punctuation may be code. */
  isMessage?: boolean;
}

/** A message has at least this many words; shorter strings are keys, names and codes. */
const MIN_MESSAGE_WORDS = 4;

/** Comments and messages of a TypeScript or AssemblyScript file. */
export function proseOfTypeScript(source: string): Prose[] {
  const file = ts.createSourceFile("file.ts", source, ts.ScriptTarget.Latest, true);
  const found = new Map<number, Prose>();
  const add = (from: number, text: string, isMessage: boolean): void => {
    if (text) found.set(from, { line: file.getLineAndCharacterOfPosition(from).line + 1, text, isMessage });
  };
  const visit = (node: ts.Node): void => {
    const ranges = [
      ...(ts.getLeadingCommentRanges(source, node.getFullStart()) ?? []),
      ...(ts.getTrailingCommentRanges(source, node.getEnd()) ?? []),
    ];
    for (const range of ranges) add(range.pos, plainComment(source.slice(range.pos, range.end)), false);
    if (ts.isStringLiteralLike(node) && isMessage(node.text)) add(node.getStart(), node.text, true);
    if (ts.isTemplateExpression(node)) add(node.getStart(), messageOf(node), true);
    ts.forEachChild(node, visit);
  };
  visit(file);
  for (const range of ts.getLeadingCommentRanges(source, file.endOfFileToken.getFullStart()) ?? []) {
    add(range.pos, plainComment(source.slice(range.pos, range.end)), false);
  }
  return joined(
    [...found.values()].sort((one, other) => one.line - other.line),
    source.split("\n"),
  );
}

/** Comments of a Lua file; lines that follow each other are one text. */
export function proseOfLua(source: string): Prose[] {
  const found: Prose[] = [];
  let last = -1;
  source.split("\n").forEach((text, at) => {
    const comment = /^\s*--+\s?(.*)$/.exec(text)?.[1];
    if (comment === undefined) return;
    const before = found.at(-1);
    if (before && last === at - 1) before.text += ` ${comment.trim()}`;
    else found.push({ line: at + 1, text: comment.trim() });
    last = at;
  });
  return found;
}

/** Paragraphs of a Markdown file, without code blocks and headings. */
export function proseOfMarkdown(source: string): Prose[] {
  const found: Prose[] = [];
  let isCode = false;
  let isNew = true;
  source.split("\n").forEach((text, at) => {
    if (/^\s*```/.test(text)) isCode = !isCode;
    if (isCode || /^\s*(```|#|$)/.test(text)) {
      isNew = true;
      return;
    }
    if (isNew || /^\s*([-*|>]|\d+\.)/.test(text)) found.push({ line: at + 1, text: text.trim() });
    else (found.at(-1) as Prose).text += ` ${text.trim()}`;
    isNew = false;
  });
  return found.map(({ line, text }) => ({
    line,
    text: text.replace(/^[-*|>\d.\s]+/, "").replace(/`[^`]*`/g, "`code`"),
  }));
}

function plainComment(comment: string): string {
  const inner = comment.replace(/^\/\*+|\*+\/$|^\/\/+/g, "");
  const lines = inner.split("\n").map((line) => line.replace(/^\s*\* ?/, ""));
  return lines
    .join("\n")
    .replace(/```[\s\S]*?```/g, "")
    .replace(/`[^`\n]*`/g, "`code`")
    .replace(/\s+/g, " ")
    .trim();
}

function messageOf(node: ts.TemplateExpression): string {
  const text = [node.head.text, ...node.templateSpans.map((span) => span.literal.text)].join("…");
  return isMessage(text) ? text : "";
}

function isMessage(text: string): boolean {
  return text.trim().split(/\s+/).length >= MIN_MESSAGE_WORDS;
}

/** Joins `//` comments on lines that follow each other. */
function joined(texts: Prose[], lines: string[]): Prose[] {
  const result: Prose[] = [];
  let last = -1;
  for (const { line, text, isMessage } of texts) {
    const isWholeLine = /^\s*\/\//.test(lines[line - 1] ?? "");
    const before = result.at(-1);
    if (isWholeLine && before && last === line - 1) before.text += ` ${text}`;
    else result.push({ line, text, isMessage });
    last = isWholeLine ? line : -1;
  }
  return result;
}
