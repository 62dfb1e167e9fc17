import { corruptError, OrielError } from "../../../base/errors.ts";
import { asCorrupt } from "../../../store/as-corrupt.ts";
import { closedKey } from "./rotate.ts";

/** The bytes of a chunk are not frames. Its key depends on whether it is closed. */
export class DamagedChunk extends OrielError {
  readonly number: number;

  constructor(number: number, what: string) {
    super("CORRUPT", `chunk ${number} ${what}`);
    this.number = number;
  }
}

/**
 * Turns any error from decoding a journal's bytes into CORRUPT with the key. Returns other errors unchanged. `openNumber` is the
 * number of the open chunk.
 */
export function corruptAt(key: string, error: unknown, openNumber?: number): unknown {
  if (error instanceof DamagedChunk) {
    const isClosed = openNumber !== undefined && openNumber !== error.number;
    return corruptError(isClosed ? closedKey(key, error.number) : key, OrielError.detailOf(error));
  }
  return asCorrupt(key, error);
}
