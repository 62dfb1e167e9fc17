/** Breaks a text at blanks into lines of at most `width` characters. A longer word is cut. */
export function wrapped(text: string, width: number): string[] {
  return (text.match(new RegExp(`\\S.{0,${width - 1}}(?=\\s|$)|\\S{${width}}|\\S+`, "gu")) ?? []).map((line) =>
    line.trimEnd(),
  );
}
