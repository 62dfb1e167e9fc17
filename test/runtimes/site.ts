import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Site {
  readonly url: string;
  close(): Promise<void>;
}

type Files = Record<string, [type: string, body: string | Uint8Array]>;

/** A page on localhost that loads main.js, under a content security policy where one is given. */
export function startSite(main: string, wasm: Uint8Array, policy?: string): Promise<Site> {
  const files: Files = {
    "/": ["text/html", '<!doctype html><link rel="icon" href="data:,"><script type="module" src="main.js"></script>'],
    "/main.js": ["text/javascript", main],
    "/kernels.simd.wasm": ["application/wasm", wasm],
  };
  return serve(files, policy);
}

export async function serve(files: Files, policy?: string): Promise<Site> {
  const server = createServer((request, response) => {
    const [type, body] = files[request.url!] ?? [];
    if (policy) response.setHeader("content-security-policy", policy);
    response.writeHead(body === undefined ? 404 : 200, { "content-type": type ?? "text/plain" });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
