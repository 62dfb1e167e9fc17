import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createGzip } from "node:zlib";
import { expect, test } from "vitest";
import { MAX_ANSWER_BYTES } from "../../../src/store/http/http-request.ts";
import { startChild } from "../../harness/child.ts";

/** The memory that an answer may take while it is read. */
const MAX_HEAP_BYTES = 4 * MAX_ANSWER_BYTES;
const BLOCK = 1 << 16;

/** Writes `text` repeatedly, as fast as it is read, until all `bytes` are written or the client disconnects. */
function fill(response: NodeJS.WritableStream, text: string, bytes: number): void {
  const block = text.repeat(BLOCK / text.length);
  let left = bytes;
  const more = () => {
    for (; left > 0; ) {
      left -= BLOCK;
      if (!response.write(block)) return void response.once("drain", more);
    }
    response.end();
  };
  more();
}

/** Just below the bound, so that it is read to its end. */
const WHOLE = MAX_ANSWER_BYTES - 2 * BLOCK;
const attacks: Record<string, (response: ServerResponse) => void> = {
  "nested arrays": (response) => fill(response, "[", WHOLE),
  "many small arrays": (response) => {
    response.write('{"result":[[]');
    fill(response, ",[]x".replace("x", " "), WHOLE);
  },
  "one long string": (response) => {
    response.write('{"result":["');
    fill(response, "AAAA", WHOLE);
  },
  "a gzip bomb": (response) => {
    response.setHeader("Content-Encoding", "gzip");
    const gzip = createGzip();
    gzip.pipe(response);
    response.on("close", () => gzip.destroy());
    gzip.on("error", () => {});
    fill(gzip, " ", 1e12);
  },
  "a Retry-After and a long reason": (response) => {
    response.writeHead(429, { "Retry-After": "0" });
    fill(response, "x", WHOLE);
  },
};

test.each(Object.keys(attacks))("a hostile answer takes no more memory than its bound: %s", async (name) => {
  let asked = 0;
  const server = createServer((request, response) => {
    request.resume();
    if (asked++ === 0) return void response.writeHead(404).end();
    response.on("error", () => {});
    attacks[name]!(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  try {
    const child = startChild(new URL("http-answers-child.ts", import.meta.url), [`http://127.0.0.1:${port}`, 3]);
    expect(await child.ended).toEqual([0, null]);
    const { grownBytes, reasons } = JSON.parse(child.lines[0]!);
    expect(
      reasons.every((code: string) => ["UNAVAILABLE", "DEADLINE", "CORRUPT"].includes(code)),
      reasons,
    ).toBe(true);
    expect(asked).toBeGreaterThan(1);
    expect(grownBytes / MAX_HEAP_BYTES).toBeLessThan(1.8); // from some 60 MiB of Node and the library
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
