import { access, constants, readFile, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, extname } from "node:path";
import { argumentError } from "../../base/errors.ts";
import { FONTS } from "../../generated/fonts.ts";

const FORMS = [".svg", ".png", ".html"] as const;
export type PictureEnding = (typeof FORMS)[number];

/** The form of a picture by the ending of its file's name. Throws ARGUMENT for others. */
export function pictureEnding(file: string): PictureEnding {
  const ending = extname(file).toLowerCase();
  const found = FORMS.find((form) => form === ending);
  if (found === undefined) throw argumentError("--plot", file, "the name of a file that ends in .svg, .png or .html");
  return found;
}

/** Rejects now if the picture could not be written after a long run: no such folder, no right, no package for PNG. */
export async function checkPictureFile(file: string): Promise<void> {
  await access(dirname(file), constants.W_OK);
  const found = await stat(file).catch(() => undefined);
  if (found?.isDirectory()) throw argumentError("--plot", file, "the name of a file; it is a folder");
  if (pictureEnding(file) !== ".png") return;
  try {
    await import(RASTER_PACKAGE);
  } catch {
    const advice = `a file .svg or .html, or the optional package ${RASTER_PACKAGE} must be installed (npm install ${RASTER_PACKAGE})`;
    throw argumentError("--plot", file, advice);
  }
}

/** An optional package of 2.5 MB. It is installed by hand, for a PNG. */
const RASTER_PACKAGE = "@resvg/resvg-wasm";

let initialized: Promise<void> | undefined;

/** The picture as PNG, `widthPx` wide. Its font (Latin, Greek and Cyrillic letters) comes with oriel. */
export async function pngOf(svg: string, widthPx: number): Promise<Uint8Array> {
  const { initWasm, Resvg } = await import("@resvg/resvg-wasm");
  const wasm = createRequire(import.meta.url).resolve("@resvg/resvg-wasm/index_bg.wasm");
  initialized ??= readFile(wasm).then(initWasm);
  await initialized;
  const fontBuffers = await Promise.all(FONTS.map((font) => readFile(font)));
  const font = { fontBuffers, defaultFontFamily: "Inter", sansSerifFamily: "Inter" };
  const drawn = new Resvg(svg, { fitTo: { mode: "width", value: widthPx }, font });
  try {
    const image = drawn.render();
    const png = image.asPng();
    image.free();
    return png;
  } finally {
    drawn.free();
  }
}
