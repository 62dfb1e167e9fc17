import { once } from "node:events";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { Readable } from "node:stream";

export interface Source {
  readonly chunks: Readable & { readonly bytesRead?: number };
  /** null if unknown: standard input, a pipe. */
  readonly sizeBytes: number | null;
}

/** The bytes of a file, or of standard input for `-`. Rejects with the system's error if it cannot be opened. */
export async function openSource(file: string, stdin: Readable): Promise<Source> {
  if (file === "-") return { chunks: stdin, sizeBytes: null };
  const chunks = createReadStream(file);
  await once(chunks, "open");
  const found = await stat(file);
  return { chunks, sizeBytes: found.isFile() ? found.size : null };
}
