import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

export interface DemoServer {
  readonly url: string;
  close(): Promise<void>;
}

/** An HTTP server on loopback whose answers take a varied time. Rejects if the port is taken. */
export async function startServer(port: number): Promise<DemoServer> {
  const server = createServer(handler());
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return {
    url,
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/**
 * Latencies like those of a service: a log-normal body (median 6 ms), one request in forty that misses a cache
 * (+40 to 120 ms), and rare pauses of 150 ms that delay everything.
 */
function handler(): RequestListener {
  let pausedUntilMs = 0;
  let nextPauseMs = performance.now() + 2500;
  return (_request, response) => {
    const nowMs = performance.now();
    if (nowMs >= nextPauseMs) {
      pausedUntilMs = nowMs + 150;
      nextPauseMs = nowMs + 3000 + Math.random() * 4000;
    }
    const bodyMs = 6 * Math.exp(0.45 * normal());
    const missMs = Math.random() < 1 / 40 ? 40 + Math.random() * 80 : 0;
    setTimeout(() => response.end("ok\n"), Math.max(0, pausedUntilMs - nowMs) + bodyMs + missMs);
  };
}

/** A standard normal number, by Box and Muller. */
function normal(): number {
  return Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
}
