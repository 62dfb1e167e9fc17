import { Redis } from "ioredis";

/**
 * The clients of one process, one for each server. A command waits for its server, however long that is away, so that a call
 * ends early only if the caller ends it.
 */
export function quorumClients(urls: readonly string[]): Redis[] {
  return urls.map((url) => {
    const client = new Redis(url, { retryStrategy: () => 50, maxRetriesPerRequest: null });
    client.on("error", () => {}); // servers are down for a while
    return client;
  });
}
