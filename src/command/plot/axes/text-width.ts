/**
 * An upper estimate of the width of a text in a sans-serif font. The reader's font is unknown, so the estimate is
 * that of a wide one (DejaVu Sans).
 */
export function textWidthPx(text: string, sizePx: number, isBold = false): number {
  let ems = 0;
  for (const sign of text) ems += emsOf(sign);
  return ems * sizePx * (isBold ? 1.1 : 1);
}

function emsOf(sign: string): number {
  const code = sign.codePointAt(0) as number;
  if (code >= 0x1100) return code >= 0x2000 && code < 0x2e80 ? 0.9 : 1.05; // ideographs, emoji
  if (/[mwMW@%]/.test(sign)) return 1;
  if (/[ijltfr.,:;'|! ()[\]/]/.test(sign)) return 0.42;
  return /\p{Uppercase}/u.test(sign) ? 0.74 : 0.64;
}

/** The text, cut with "…" where it would be wider. */
export function fittingText(text: string, widthPx: number, sizePx: number, isBold = false): string {
  if (textWidthPx(text, sizePx, isBold) <= widthPx) return text;
  const signs = [...text];
  while (signs.length > 1 && textWidthPx(`${signs.join("")}…`, sizePx, isBold) > widthPx) signs.pop();
  return `${signs.join("")}…`;
}

/** Joins parts by " · " into lines that fit. A part that is wider than a line is cut between its words. */
export function wrappedLines(parts: readonly string[], widthPx: number, sizePx: number, separator = " · "): string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const joined = lines.length > 0 ? `${lines.at(-1)}${separator}${part}` : part;
    if (lines.length > 0 && textWidthPx(joined, sizePx) <= widthPx) lines[lines.length - 1] = joined;
    else if (separator !== " " && textWidthPx(part, sizePx) > widthPx)
      lines.push(...wrappedLines(part.split(" "), widthPx, sizePx, " "));
    else lines.push(fittingText(part, widthPx, sizePx));
  }
  return lines;
}
