import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import type { Store } from "../../../src/store/contract.ts";
import { type HttpStoreOptions, httpStore } from "../../../src/store/http/http.ts";
import type { Fetch } from "../../../src/store/http/http-request.ts";
import { type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";
import { type RestServer, startRest } from "../../harness/servers/rest-server.ts";

/** A Redis and a REST server of the test file's own, without faults before each test; its stores are closed after each. */
export class HttpStage {
  server!: RedisServer;
  raw!: Redis;
  rest!: RestServer;
  readonly #stores: Store[] = [];

  constructor() {
    beforeAll(async () => {
      this.server = await startRedis();
      this.raw = new Redis(this.server.url);
      this.rest = await startRest(this.server.url);
    });
    beforeEach(async () => {
      await this.raw.flushall();
      this.rest.faultOf = undefined;
      this.rest.requests.length = 0;
    });
    afterEach(() => Promise.all(this.#stores.splice(0).map((store) => store.close())));
    afterAll(async () => {
      this.raw?.disconnect();
      await this.rest?.stop();
      await this.server?.stop();
    });
  }

  open(options: Partial<HttpStoreOptions> = {}): Store {
    // A `fetch` of its own: what a test makes known of the server's health is not for the next.
    const fetch: Fetch = (...request) => globalThis.fetch(...request);
    const store = httpStore({ url: this.rest.url, token: this.rest.token, fetch, ...options });
    this.#stores.push(store);
    return store;
  }

  /** Names of the commands of each request so far, except probes of a server that is down: "EVALSHA EVALSHA". */
  get asked(): string[] {
    const names = this.rest.requests.map(({ commands }) => commands.map(([name]) => name).join(" "));
    return names.filter((name) => name !== "EXISTS");
  }
}
