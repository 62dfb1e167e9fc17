import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type FaultProxy, startProxy } from "../../harness/network/proxy.ts";
import { type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";

/** A server that writes an append-only file, can die and come back, and the proxies that lead to it. */
export class Site {
  readonly #folder = mkdtempSync(join(tmpdir(), "oriel-site-"));
  readonly #proxies = new Set<FaultProxy>();
  #server!: RedisServer;

  /** Every answered write reached the file before. With `appendfsync no` only a crash of the machine could lose it. */
  async open(): Promise<void> {
    const args = ["--appendonly", "yes", "--appendfsync", "no", "--dir", this.#folder];
    this.#server = await startRedis({ tcp: true, args });
  }

  get url(): string {
    return this.#server.url;
  }

  async proxy(): Promise<FaultProxy> {
    const proxy = await startProxy(this.#server.port);
    this.#proxies.add(proxy);
    return proxy;
  }

  pause(): void {
    this.#server.pause();
  }

  resume(): void {
    this.#server.resume();
  }

  /** kill -9. The server then restarts with every acknowledged write, and the proxies lead to it. */
  async restart(): Promise<void> {
    await this.#server.stop();
    await this.open();
    for (const proxy of this.#proxies) proxy.moveTo(this.#server.port);
  }

  async closeProxies(): Promise<void> {
    await Promise.all([...this.#proxies].map((proxy) => proxy.close()));
    this.#proxies.clear();
  }

  async close(): Promise<void> {
    await this.closeProxies();
    await this.#server.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
