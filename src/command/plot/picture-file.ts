import { access, constants, stat } from "node:fs/promises";
import { dirname, extname } from "node:path";
import { argumentError } from "../../base/errors.ts";
import { RASTER_PACKAGE } from "./png.ts";

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
