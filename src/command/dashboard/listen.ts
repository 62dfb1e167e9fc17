import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Dashboard } from "../../entries/structures/dashboard.ts";

export interface Listening {
  readonly port: number;
  close(): void;
}

/** Serves a dashboard over HTTP. Rejects with EADDRINUSE if the port is taken. */
export async function listen(
  board: Dashboard,
  port: number,
  host: string,
  onError: (error: unknown) => void,
): Promise<Listening> {
  const server = createServer((request, response) => {
    board.node(request, response).catch((error: unknown) => {
      onError(error);
      response.destroy();
    });
  });
  server.listen(port, host);
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

export function isTaken(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "EADDRINUSE";
}
