import { decode, encode } from "@jridgewell/sourcemap-codec";
import { parseAst } from "rolldown/parseAst";

/** Node prints the whole line that threw an error which nobody catches. */
const LONGEST_LINE = 400;

/** Before statements, and before elements of lists, a new line changes nothing. */
function placesFor(code) {
  const places = [];
  const visit = (node) => {
    for (const child of Object.values(node).flat()) {
      if (!child?.type || child.type === "TemplateElement") continue;
      if (/[;,{}([]/.test(code[child.start - 1])) places.push(child.start);
      visit(child);
    }
  };
  visit(parseAst(code));
  return places.sort((a, b) => a - b);
}

function breaksOf(code) {
  const breaks = [];
  let begin = 0;
  let last = 0;
  for (const place of placesFor(code)) {
    const newLine = code.slice(last, place).lastIndexOf("\n");
    if (newLine >= 0) begin = last + newLine + 1;
    else if (place - begin > LONGEST_LINE && last > begin) {
      breaks.push(last);
      begin = last;
    }
    last = place;
  }
  return breaks;
}

/** One place for each line of a source. Stacks have the file and the line, in an eighth of the bytes of a map of columns. */
function mappingsOf(code, breaks, mappings) {
  const inserted = new Set(breaks);
  const begins = [0, ...breaks, ...[...code.matchAll(/\n/g)].map(({ index }) => index + 1)].sort((a, b) => a - b);
  const places = decode(mappings);
  let line = 0;
  let lineBegin = 0;
  let before = [];
  return encode(
    begins.map((begin, i) => {
      const isSameLine = inserted.has(begin);
      if (!isSameLine) [line, lineBegin, before] = [i === 0 ? 0 : line + 1, begin, []];
      const from = begin - lineBegin;
      const to = (begins[i + 1] ?? Number.POSITIVE_INFINITY) - lineBegin;
      const lines = before.length > 0 ? [[0, before[1], before[2], 0]] : [];
      for (const segment of places[line] ?? []) {
        const [column, source, sourceLine] = segment;
        if (segment.length === 1 || column < from || column >= to) continue;
        if (source === before[1] && sourceLine === before[2]) continue;
        before = segment;
        lines.push([column - from, source, sourceLine, 0]);
      }
      return lines;
    }),
  );
}

/** The code in lines of about 400 characters, except where a text is longer, and its source map without the sources' text. */
export function inShortLines(code, map) {
  const breaks = breaksOf(code);
  const text = [0, ...breaks].map((begin, i) => code.slice(begin, breaks[i])).join("\n");
  if (!map) return { code: text };
  const { version, file, sources, mappings } = map;
  return { code: text, map: { version, file, sources, names: [], mappings: mappingsOf(code, breaks, mappings) } };
}
