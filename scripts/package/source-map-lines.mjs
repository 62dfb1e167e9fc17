import { decode, encode } from "@jridgewell/sourcemap-codec";

/**
 * The source map with one place for each line of a source, and without the sources' text. Stacks have the file and the line, in an
 * eighth of the bytes.
 */
export function linesOf({ version, file, sources, mappings }) {
  const lines = decode(mappings).map((segments) => {
    let before = [];
    return segments.flatMap((segment) => {
      const [column, source, line] = segment;
      if (segment.length === 1 || (source === before[1] && line === before[2])) return [];
      before = segment;
      return [[column, source, line, 0]];
    });
  });
  return { version, file, sources, names: [], mappings: encode(lines) };
}
