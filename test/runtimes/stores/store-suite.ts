// The store's suite, to be bundled for another runtime.
import { Redis } from "ioredis";
import { clients, connected } from "../../store/contract/clients.ts";
import { onServers } from "../../store/contract/on-servers.ts";
import { storeSuite } from "../../store/contract/suite.ts";
import { type Outcome, runSuites } from "./suite-runner.ts";

export type ClientName = keyof typeof clients;

/** Runs the suite over the server, by a client of its own. */
export function runStoreSuite(client: ClientName, url: string): Promise<Outcome> {
  const open = onServers(async () => {
    const raw = new Redis(url);
    return { ...connected(clients[client](url)), raw, flush: () => raw.flushall(), stop: async () => {} };
  });
  storeSuite(client, open);
  return runSuites();
}
