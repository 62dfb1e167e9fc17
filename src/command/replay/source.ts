import { once } from "node:events";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { Readable } from "node:stream";
import { OrielError } from "../../base/errors.ts";
import { safeText } from "../text/safe-text.ts";

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

const GZIP = Buffer.from([0x1f, 0x8b]);
const UTF_16 = [Buffer.from([0xff, 0xfe]), Buffer.from([0xfe, 0xff])];

/** The chunks. Throws ARGUMENT if they are no UTF-8 text: compressed, UTF-16, or with a zero byte in the first line. */
export async function* textOf(file: string, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let isFirst = true;
  for await (const chunk of chunks) {
    const end = chunk.indexOf(0x0a);
    const firstLine = end < 0 ? chunk : chunk.subarray(0, end);
    const beginsWith = (bytes: Buffer) => bytes.equals(chunk.subarray(0, bytes.length));
    const is = `${file === "-" ? "the input" : safeText(file, 200)} is`;
    if (isFirst && UTF_16.some(beginsWith))
      throw new OrielError("ARGUMENT", `${is} UTF-16 text; convert it first: iconv -f UTF-16 -t UTF-8`);
    if (isFirst && (firstLine.includes(0) || beginsWith(GZIP)))
      throw new OrielError(
        "ARGUMENT",
        `${is} not text; it must be CSV, NDJSON or an access log in UTF-8, and not compressed`,
      );
    isFirst = false;
    yield chunk;
  }
}
