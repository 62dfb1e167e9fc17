import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Redis } from "ioredis";
import { type RedisServer, startRedis } from "../harness/redis-server.ts";
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
      const gone = join(this.#folder, "gone");
      mkdirSync(gone);
      await this.#call("CONFIG", "SET", "save", "86400 1000000", "dir", gone);
      rmSync(gone, { recursive: true });
      await this.#saved("err");
      await this.#while(random);
      await this.#call("CONFIG", "SET", "save", "", "dir", this.#folder);
      await this.#saved("ok");
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

  async #saved(status: "ok" | "err"): Promise<void> {
    await this.#call("BGSAVE").catch(() => {});
    for (let i = 0; i < 200; i++) {
      const info = await this.#operator.info("persistence");
      if (/rdb_bgsave_in_progress:0/.test(info) && info.includes(`rdb_last_bgsave_status:${status}`)) return;
      if (/rdb_bgsave_in_progress:0/.test(info)) await this.#call("BGSAVE").catch(() => {});
      await pause(10);
    }
    throw new Error(`the server's last save is not ${status}`);
  }
}
