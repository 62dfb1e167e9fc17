import { ServerHealth } from "../health/server-health.ts";
import type { Fetch, HttpServer } from "./http-request.ts";

/** Largest number of remembered servers for one `fetch`. */
const MAX_SERVERS = 256;

const known = new WeakMap<Fetch, Map<string, ServerHealth>>();

/**
 * Returns the health of a server. All stores with the same `fetch`, URL, token and deadline share it, because Workers make a store
 * for each request, and each would need a whole deadline to notice an outage.
 */
export function healthOf({ fetch, url, token }: HttpServer, deadlineMs: number): ServerHealth {
  const servers = known.get(fetch) ?? new Map<string, ServerHealth>();
  known.set(fetch, servers);
  const name = `${deadlineMs} ${url} ${token}`;
  let health = servers.get(name);
  if (!health) {
    if (servers.size >= MAX_SERVERS) for (const [each, { outage }] of servers) if (!outage) servers.delete(each);
    health = new ServerHealth(url);
    servers.set(name, health);
  }
  return health;
}
