import { corruptError, OrielError } from "../errors.ts";

/**
 * What went wrong while the value of `key` was read, as an error that names the key: CORRUPT for whatever decoding threw.
 * Other errors stay as they are.
 */
export function asCorrupt(key: string, error: unknown): unknown {
  if (error instanceof OrielError) {
    const { code, cause, applied } = error;
    const detail = OrielError.detailOf(error);
    return code !== "CORRUPT" || detail.includes(key) ? error : corruptError(key, detail, { cause, applied });
  }
  const isOfReading = error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;
  return isOfReading ? corruptError(key, "no step of oriel wrote it", { cause: error }) : error;
}
