import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { FONTS } from "../../generated/fonts.ts";

/** An optional package of 2.5 MB. It is installed by hand, for a PNG. */
export const RASTER_PACKAGE = "@resvg/resvg-wasm";

let initialized: Promise<void> | undefined;

/** The picture as PNG, `widthPx` wide. Its font (Latin, Greek and Cyrillic letters) comes with oriel. */
export async function pngOf(svg: string, widthPx: number): Promise<Uint8Array> {
  const { initWasm, Resvg } = await import("@resvg/resvg-wasm");
  const wasm = createRequire(import.meta.url).resolve("@resvg/resvg-wasm/index_bg.wasm");
  initialized ??= readFile(wasm).then(initWasm);
  await initialized;
  const fontBuffers = FONTS.map((font) => Buffer.from(font, "base64"));
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
