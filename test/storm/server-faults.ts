import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Redis } from "ioredis";
import { slotOf } from "../../src/store/keys.ts";
import type { RedisCluster } from "../harness/servers/redis-cluster.ts";
import type { RedisServer } from "../harness/servers/redis-server.ts";
import { breakSaves, mendSaves } from "../harness/servers/saves.ts";
import type { Random } from "../simulator/world/random.ts";
import type { Connected, HandedIn } from "../store/contract/clients.ts";

/** The writable servers, how they are started, and how the stores of the matrix connect to them. */
export interface Servers {
  open(folder: string): Promise<{ servers: readonly RedisServer[]; cluster?: RedisCluster; stop(): Promise<unknown> }>;
  clients: Record<string, (urls: readonly string[]) => HandedIn | Promise<Connected>>;
  hasReplica?: boolean;
}

/** Makes servers refuse, be silent or forget their scripts, and heals them after each fault. */
export class FaultyServers {
  readonly #open: Servers["open"];
  readonly #clients: Servers["clients"];
  readonly hasReplica: boolean;
  readonly #folder = mkdtempSync(join(tmpdir(), "oriel-storm-"));
  #cluster: RedisCluster | undefined;
  #servers: readonly RedisServer[] = [];
  /** Their ACL users are never refused. */
  #operators: Redis[] = [];
  #stop: () => Promise<unknown> = async () => {};

  constructor({ open, clients, hasReplica = false }: Servers) {
    this.#open = open;
    this.#clients = clients;
    this.hasReplica = hasReplica;
  }

  async open(): Promise<void> {
    const { servers, stop, cluster } = await this.#open(this.#folder);
    [this.#servers, this.#stop, this.#cluster] = [servers, stop, cluster];
    for (const { url } of servers) {
      const admin = new Redis(url);
      await admin.call("ACL", "SETUSER", "operator", "on", "nopass", "~*", "&*", "+@all");
      await admin.config("SET", "busy-reply-threshold", 10);
      admin.disconnect();
      const operator = new Redis(url, { username: "operator", password: "any" });
      operator.on("error", () => {});
      this.#operators.push(operator);
    }
    for (const name of Object.keys(this.faults)) {
      if (cluster && ["READONLY", "MISCONF"].includes(name)) delete this.faults[name];
      if (!cluster && name === "slots moved") delete this.faults[name];
    }
  }

  has(store: string): boolean {
    return store in this.#clients;
  }

  async connect(store: string): Promise<HandedIn | Connected> {
    return this.#clients[store]!(this.#servers.map(({ url }) => url));
  }

  async empty(): Promise<void> {
    await Promise.all(this.#operators.map((operator) => operator.flushall()));
  }

  async close(): Promise<void> {
    for (const operator of this.#operators) operator.disconnect();
    await this.#stop();
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
      await this.#operators[0]!.replicaof("127.0.0.1", 1);
      await this.#while(random);
      await this.#operators[0]!.replicaof("NO", "ONE");
    },
    BUSY: (random) => {
      const script = `local function ms() local t = redis.call("TIME") return t[1] * 1000 + t[2] / 1000 end
        local ends = ms() + ARGV[1] while ms() < ends do end`;
      return random.pick(this.#operators).eval(script, 0, random.int(30, 250));
    },
    MISCONF: async (random) => {
      await breakSaves(this.#operators[0]!, this.#folder);
      await this.#while(random);
      await mendSaves(this.#operators[0]!, this.#folder);
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
      const server = random.pick(this.#servers);
      server.pause();
      await this.#while(random);
      server.resume();
    },
    "slots moved": async (random) => {
      const keys = await Promise.all(this.#operators.map((operator) => operator.keys("*")));
      for (const slot of new Set(keys.flat().map(slotOf)))
        if (random.chance(0.3)) await this.#cluster!.moveSlot(slot, random.int(0, this.#servers.length - 1));
    },
    cuts: () => this.#call("CLIENT", "KILL", "USER", "default"),
  };

  async #set(name: string, faulty: string, healthy: string, random: Random): Promise<void> {
    await this.#call("CONFIG", "SET", name, faulty);
    await this.#while(random);
    await this.#call("CONFIG", "SET", name, healthy);
  }

  #call(command: string, ...words: string[]): Promise<unknown> {
    return Promise.all(this.#operators.map((operator) => operator.call(command, ...words)));
  }

  #while(random: Random): Promise<void> {
    return pause(random.int(20, 300));
  }
}
