import { ServerHealth } from "../health/server-health.ts";
import type { Fetch, HttpServer } from "./http-request.ts";

/** Servers remembered at a time for one `fetch`. */
const MOST_SERVERS = 256;

const known = new WeakMap<Fetch, Map<string, ServerHealth>>();

/**
 * The health of a server, which all stores of one `fetch`, URL, token and deadline share: Workers make a store for each request,
 * and each would take a deadline to find out by itself.
 */
export function healthOf({ fetch, url, token }: HttpServer, deadlineMs: number): ServerHealth {
  const servers = known.get(fetch) ?? new Map<string, ServerHealth>();
  known.set(fetch, servers);
  const name = `${deadlineMs} ${url} ${token}`;
  let health = servers.get(name);
  if (!health) {
    if (servers.size >= MOST_SERVERS) for (const [each, { outage }] of servers) if (!outage) servers.delete(each);
    health = new ServerHealth(url);
    servers.set(name, health);
  }
  return health;
}
