// The programs of the pages. Tests compile and run each `ts` block, and compare its output with the `text` block below it. bash runs each
// `sh` block, with the real command and the rules of shell/prelude.sh for other programs. A block with a program without a rule fails.
//
// - A comment `<!-- setup` right above a block has code that readers do not see.
// - `ts continued` continues the program above. `ts serves` listens on PORT. `ts vitest` is run by Vitest. `sh fails` ends with an error.
// - PAGE=docs/structures/limiter npx vitest run test/docs/blocks.docs.test.ts runs the blocks of one page.
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { root } from "../house/sources.ts";

/** A fenced block of a page. */
export interface Block {
  readonly page: string;
  readonly line: number;
  /** The number of headings above it. */
  readonly section: number;
  readonly language: string;
  /** Words after the language: `continued`, `serves`. */
  readonly flags: readonly string[];
  readonly code: string;
}

/** A program of one block, with the blocks that it continues. */
export interface Program {
  readonly name: string;
  readonly code: string;
  /** The `text` blocks that follow the program's blocks. Empty if the page shows no output. */
  readonly printed: string;
  /** The program listens on PORT and does not end. */
  readonly serves: boolean;
  readonly isForVitest: boolean;
}

/** README.md, SKILL.md and every page below docs/, generated ones not included. */
export function pages(): string[] {
  const docs = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .map((path) => `docs/${path.replaceAll("\\", "/")}`)
    .filter((path) => path.endsWith(".md") && !/^docs\/(api|node_modules|\.vitepress)\//.test(path));
  return ["README.md", "SKILL.md", ...docs.sort()];
}

/** The pages that a test run looks at: all, or those whose path contains PAGE. */
export function chosenPages(): string[] {
  return pages().filter((page) => page.includes(process.env.PAGE ?? ""));
}

export function textOf(page: string): string {
  return readFileSync(join(root, page), "utf8");
}

const FENCE = /^```(\w*) *(.*)$/;

export function blocksOf(page: string): Block[] {
  const blocks: Block[] = [];
  const lines = textOf(page).split("\n");
  let section = 0;
  for (let i = 0; i < lines.length; i++) {
    if (lines[i]!.startsWith("#")) section++;
    const [, language, flags = ""] = FENCE.exec(lines[i]!) ?? [];
    if (language === undefined) continue;
    const end = lines.indexOf("```", i + 1);
    if (end < 0) throw new Error(`${page}:${i + 1} a block has no end`);
    blocks.push({
      ...{ page, line: i + 1, section, language, flags: flags.split(" ").filter((flag) => flag !== "") },
      code: setupBefore(lines, i) + lines.slice(i + 1, end).join("\n"),
    });
    i = end;
  }
  return blocks;
}

/** Code that readers do not see: the comment `<!-- setup ... -->` that ends right above a block. */
function setupBefore(lines: readonly string[], fence: number): string {
  if (lines[fence - 1] !== "-->") return "";
  const begin = lines.lastIndexOf("<!-- setup", fence);
  return `${lines.slice(begin + 1, fence - 1).join("\n")}\n`;
}

/** The programs of a page. A `text` block of the same section shows what the program above it prints. */
export function programsOf(page: string): Program[] {
  const programs: Program[] = [];
  let [code, printed] = ["", ""];
  const blocks = blocksOf(page);
  for (const [i, block] of blocks.entries()) {
    if (block.language !== "ts") continue;
    if (!block.flags.includes("continued")) [code, printed] = ["", ""];
    code += `${block.code}\n`;
    const next = blocks[i + 1];
    if (next?.language === "text" && next.section === block.section) printed += `${next.code}\n`;
    programs.push({
      ...{ name: `${relative("docs", page).replace(/^\.\.\//, "")}:${block.line}`, code, printed },
      serves: block.flags.includes("serves"),
      isForVitest: block.flags.includes("vitest"),
    });
  }
  return programs;
}

/** The anchors that the site makes from headings. */
export function anchorsOf(text: string): Set<string> {
  const prose = text.replace(/^```[\s\S]*?^```/gm, "");
  return new Set(
    [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
      heading!
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, "")
        .trim()
        .replace(/\s+/g, "-"),
    ),
  );
}
