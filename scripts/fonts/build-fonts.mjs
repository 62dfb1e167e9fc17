// Copies the fonts that PNG pictures of `oriel replay --plot` use to src/generated, and lists them in src/generated/fonts.ts:
// Inter with Latin, Greek and Cyrillic letters, semibold without rare Latin ones (35 kB). A renderer of PNG has no fonts of its
// own, and a server often has none either. They are files, because text in base64 is a third larger.
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const generated = fileURLToPath(new URL("../../src/generated", import.meta.url));
const require = createRequire(import.meta.url);

mkdirSync(generated, { recursive: true });
const urls = ["latin", "latin-ext", "greek", "cyrillic"].flatMap((letters) =>
  (letters === "latin-ext" ? [400] : [400, 600]).map((weight) => {
    const name = `inter-${letters}-${weight}.woff2`;
    const from = require.resolve(`@fontsource/inter/files/inter-${letters}-${weight}-normal.woff2`);
    copyFileSync(from, join(generated, name));
    return `  new URL("./${name}", import.meta.url),`;
  }),
);
const text = `/** WOFF2 files. The package has them beside the command. */\nexport const FONTS: readonly URL[] = [\n${urls.join("\n")}\n];\n`;
writeFileSync(join(generated, "fonts.ts"), text);
