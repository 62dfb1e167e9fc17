import { existsSync, readFileSync } from "node:fs";
import type { MarkdownRenderer } from "vitepress";
import { runOf } from "../../bench/report/lines.ts";
import { plot } from "../../bench/report/page.ts";
import { RESULT } from "../../bench/report/pages.ts";

/** Shows a plot above each table that is written from the run of the benches. Copies of the pages in Markdown have the tables. */
export function withPlots(markdown: MarkdownRenderer): void {
  if (!existsSync(RESULT)) return;
  const run = runOf(readFileSync(RESULT, "utf8"));
  const { html_block: asBefore } = markdown.renderer.rules;
  markdown.renderer.rules.html_block = (tokens, i, ...rest) => {
    const [, name] = /^<!-- bench ([\w-]+) -->/.exec(tokens[i]!.content) ?? [];
    return name === undefined ? asBefore!(tokens, i, ...rest) : `<div v-pre class="bench">${plot(name, run)}</div>\n`;
  };
}
