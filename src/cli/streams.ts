import type { Readable, Writable } from "node:stream";

/** What a command reads and writes: the process's own three streams, or others in tests. */
export interface Streams {
  readonly stdin: Readable;
  readonly stdout: Writable & { readonly isTTY?: boolean };
  readonly stderr: Writable & { readonly isTTY?: boolean };
}
