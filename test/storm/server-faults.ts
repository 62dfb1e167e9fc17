import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Redis } from "ioredis";
import { type RedisServer, startRedis } from "../harness/redis-server.ts";
import { breakSaves, mendSaves } from "../harness/saves.ts";
import type { Random } from "../simulator/random.ts";

/** A server that is made to refuse, be silent or forget its scripts, and is healthy again after each fault. */
export class FaultyServer {
  readonly #folder = mkdtempSync(join(tmpdir(), "oriel-storm-"));
  #server!: RedisServer;
  /** Never refused anything: a user of its own. */
  #operator!: Redis;

  async open(): Promise<void> {
    this.#server = await startRedis({
      tcp: true,
      args: ["--busy-reply-threshold", "10", "--enable-protected-configs", "yes", "--dir", this.#folder],
    });
    const admin = new Redis(this.#server.url);
    await admin.call("ACL", "SETUSER", "operator", "on", "nopass", "~*", "&*", "+@all");
    admin.disconnect();
    this.#operator = new Redis(this.#server.url, { username: "operator", password: "any" });
    this.#operator.on("error", () => {});
  }

  get url(): string {
    return this.#server.url;
  }

  async empty(): Promise<void> {
    await this.#operator.flushall();
  }

  async close(): Promise<void> {
    this.#operator.disconnect();
    await this.#server.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  readonly faults: Record<string, (random: Random) => Promise<unknown>> = {
    OOM: (random) => this.#set("maxmemory", "1", "0", random),
    NOREPLICAS: (random) => this.#set("min-replicas-to-write", "3", "0", random),
    NOPERM: async (random) => {
      const taken = random.pick(["-@scripting", "-set -append -hset -zadd -hincrby", "resetkeys"]).split(" ");
      await this.#call("ACL", "SETUSER", "default", ...taken);
      await this.#while(random);
      await this.#call("ACL", "SETUSER", "default", "~*", "+@all");
    },
    READONLY: async (random) => {
      await this.#operator.replicaof("127.0.0.1", 1);
      await this.#while(random);
      await this.#operator.replicaof("NO", "ONE");
    },
    BUSY: (random) => {
      const script = `local function ms() local t = redis.call("TIME") return t[1] * 1000 + t[2] / 1000 end
        local ends = ms() + ARGV[1] while ms() < ends do end`;
      return this.#operator.eval(script, 0, random.int(30, 250));
    },
    MISCONF: async (random) => {
      await breakSaves(this.#operator, this.#folder);
      await this.#while(random);
      await mendSaves(this.#operator, this.#folder);
    },
    "script flush": () => this.#call("SCRIPT", "FLUSH"),
    "function flush": () => this.#call("FUNCTION", "FLUSH"),
    "full and flushed": async (random) => {
      await this.#call("CONFIG", "SET", "maxmemory", "1");
      await Promise.all([this.#call("SCRIPT", "FLUSH"), this.#call("FUNCTION", "FLUSH")]);
      await this.#while(random);
      await this.#call("CONFIG", "SET", "maxmemory", "0");
    },
    silence: async (random) => {
      this.#server.pause();
      await this.#while(random);
      this.#server.resume();
    },
    cuts: () => this.#call("CLIENT", "KILL", "USER", "default"),
  };

  async #set(name: string, faulty: string, healthy: string, random: Random): Promise<void> {
    await this.#call("CONFIG", "SET", name, faulty);
    await this.#while(random);
    await this.#call("CONFIG", "SET", name, healthy);
  }

  #call(command: string, ...words: string[]): Promise<unknown> {
    return this.#operator.call(command, ...words);
  }

  #while(random: Random): Promise<void> {
    return pause(random.int(20, 300));
  }
}
