// Turns the fonts that PNG pictures of `oriel replay --plot` use into src/generated/fonts.ts: Inter, regular and semibold, with
// Latin, Greek and Cyrillic letters. A renderer of PNG has no fonts of its own, and a server often has none either.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const generated = fileURLToPath(new URL("../../src/generated", import.meta.url));
const require = createRequire(import.meta.url);

const fonts = ["latin", "latin-ext", "greek", "cyrillic"].flatMap((letters) =>
  [400, 600].map((weight) => {
    const path = require.resolve(`@fontsource/inter/files/inter-${letters}-${weight}-normal.woff2`);
    return `  // ${letters}, ${weight}\n  "${readFileSync(path, "base64")}",`;
  }),
);
const text = `/** WOFF2 files in base64. */\nexport const FONTS: readonly string[] = [\n${fonts.join("\n")}\n];\n`;
mkdirSync(generated, { recursive: true });
writeFileSync(join(generated, "fonts.ts"), text);
