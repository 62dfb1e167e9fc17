import { wrapped } from "../text/wrapped.ts";

/**
 * The text below the options of a help, with its prose in at most `width` columns. A line that ends a sentence ends a paragraph.
 * Examples are commands, which stay as they are.
 */
export function helpText(text: string, width: number): string {
  const lines: string[] = [];
  let isExample = false;
  let paragraph = "";
  const flush = () => {
    const indent = /^ */.exec(paragraph)![0];
    lines.push(...wrapped(paragraph.trim(), width - indent.length).map((line) => indent + line));
    paragraph = "";
  };
  for (const line of text.split("\n")) {
    if (/^\S/.test(line)) isExample = /^Examples:?$/.test(line);
    const isSameIndent = /^ */.exec(line)![0] === /^ */.exec(paragraph)![0];
    if (isExample || line === "" || !isSameIndent || /[.:]$/.test(paragraph)) flush();
    if (isExample || line === "") lines.push(line);
    else paragraph = paragraph === "" ? line : `${paragraph} ${line.trim()}`;
  }
  flush();
  return lines.join("\n");
}
