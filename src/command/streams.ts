import type { Readable, Writable } from "node:stream";

/** The streams that a command reads and writes: the three of the process, or others in tests. */
export interface Streams {
  readonly stdin: Readable;
  readonly stdout: Writable & { readonly isTTY?: boolean };
  readonly stderr: Writable & { readonly isTTY?: boolean };
}
