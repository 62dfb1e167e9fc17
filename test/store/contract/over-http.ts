import { httpStore } from "../../../src/store/http/http.ts";
import { startRest } from "../../harness/servers/rest-server.ts";
import type { Connected } from "./clients.ts";

/** A REST server of one's own in front of a Redis. */
export async function overHttp(redisUrl: string): Promise<Connected> {
  const { url, token, stop } = await startRest(redisUrl);
  return { storeOf: (options) => httpStore({ url, token, ...options }), end: stop };
}
