import { corruptError, OrielError } from "../base/errors.ts";

/**
 * Adds `key` to an error that was thrown while its value was read. Errors of decoding become CORRUPT. Other errors are
 * returned unchanged.
 */
export function asCorrupt(key: string, error: unknown): unknown {
  if (error instanceof OrielError) {
    const { code, cause, applied } = error;
    const detail = OrielError.detailOf(error);
    return code !== "CORRUPT" || detail.includes(key) ? error : corruptError(key, detail, { cause, applied });
  }
  const isDecodingError = error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;
  return isDecodingError ? corruptError(key, "no step of oriel wrote it", { cause: error }) : error;
}
