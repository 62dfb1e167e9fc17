// Writes the licences of what a bundle contains: they ask that their text goes with the code.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const LICENCE = /^(licen[cs]e|copying)([.-]|$)/i;

/** Generated modules that contain files of a package. */
const GENERATED = { "src/generated/fonts.ts": "node_modules/@fontsource/inter" };

/** "node_modules/d3-scale" of "node_modules/d3-scale/src/band.js", scopes and nesting included. */
const packageFolderOf = (input) => GENERATED[input] ?? /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0];

function noticeOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((entry) => LICENCE.test(entry));
  if (!file) throw new Error(`${name} is bundled and has no licence file`);
  return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
}

/** `inputs` are the paths of the modules from the root of this repository. */
export function thirdPartyNotices(file, inputs) {
  const folders = new Set(inputs.map(packageFolderOf).filter((folder) => folder !== undefined));
  const notices = [...folders].sort().map(noticeOf);
  writeFileSync(file, notices.join(`\n${"-".repeat(80)}\n\n`));
}
