import { corruptError, OrielError } from "../../errors.ts";
import { asCorrupt } from "../../store/as-corrupt.ts";
import { closedKey } from "./rotate.ts";

/** A chunk's bytes are no frames; under which key they lie depends on whether it is closed. */
export class DamagedChunk extends OrielError {
  readonly number: number;

  constructor(number: number, what: string) {
    super("CORRUPT", `chunk ${number} ${what}`);
    this.number = number;
  }
}

/**
 * What went wrong over the bytes of a journal as an error that names the key: what decoding them
 * threw, whatever it was. Other errors as they are. `openNumber`: of the chunk that is not closed.
 */
export function corruptAt(key: string, error: unknown, openNumber?: number): unknown {
  if (error instanceof DamagedChunk) {
    const isClosed = openNumber !== undefined && openNumber !== error.number;
    return corruptError(isClosed ? closedKey(key, error.number) : key, OrielError.detailOf(error));
  }
  return asCorrupt(key, error);
}
