import { corruptError, OrielError } from "../errors.ts";

/**
 * What went wrong over the bytes of a journal, or of a locked window, as an error that names the key: what decoding them
 * threw, whatever it was. Other errors as they are.
 */
export function corruptAt(key: string, error: unknown): unknown {
  if (error instanceof OrielError) {
    const { code, cause, applied } = error;
    const detail = OrielError.detailOf(error);
    return code !== "CORRUPT" || detail.includes(key) ? error : corruptError(key, detail, { cause, applied });
  }
  const isOfReading = error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;
  return isOfReading ? corruptError(key, "no step of oriel wrote it", { cause: error }) : error;
}
