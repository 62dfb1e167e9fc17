// The servers on which the suites run: those on the machine, those of several Debian releases, and those that
// ORIEL_SERVERS names.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { unpacked } from "../find-programs.mjs";

export const PROGRAMS = ["redis-server", "valkey-server"];

/** `sources`: where apt looks. `servers`: what each program is called where it is missing. */
export const RELEASES = {
  "bookworm-backports": {
    sources: ["bookworm", "bookworm-backports"],
    servers: { "redis-server": "Redis 7.0", "valkey-server": "Valkey 8.0" },
  },
  trixie: { sources: ["trixie"], servers: { "redis-server": "Redis 8.0", "valkey-server": "Valkey 8.1" } },
  experimental: {
    sources: ["sid", "experimental"],
    servers: { "redis-server": "the newest Redis", "valkey-server": "the newest Valkey" },
  },
};

let found;

/**
 * [{ name: "Redis 8.0", product: "Redis", version: "8.0.2", path }] of the servers that start, and [{ name, missing }] of
 * those that could not be unpacked, oldest first.
 */
export function findServers() {
  found ??= find();
  return found;
}

function find() {
  const servers = new Map();
  const missing = [];
  const add = (path) => {
    const server = describe(path);
    if (server && !servers.has(server.name)) servers.set(server.name, server);
    return server;
  };
  for (const [release, { servers: titles }] of Object.entries(RELEASES))
    for (const [program, name] of Object.entries(titles)) {
      const path = join(unpacked("servers"), release, program);
      if (!existsSync(path) || !add(path)) missing.push({ name, missing: `no ${name}; ORIEL_SERVERS names one` });
    }
  for (const path of (process.env.ORIEL_SERVERS ?? "").split(delimiter).filter(Boolean))
    if (!add(path)) throw new Error(`ORIEL_SERVERS: ${path} is no server of Redis or Valkey that starts`);
  for (const program of PROGRAMS) add(program);
  const isOlder = (a, b) =>
    a.product.localeCompare(b.product) || a.version.localeCompare(b.version, "en", { numeric: true });
  return [...[...servers.values()].sort(isOlder), ...missing.filter(({ name }) => !servers.has(name))];
}

/** What a server says of itself. Undefined if it does not start. */
function describe(path) {
  const { stdout } = spawnSync(path, ["--version"], { encoding: "utf8" });
  const [, product, version] = /^(\w+) server v=([\d.]+)/.exec(stdout ?? "") ?? [];
  if (!version) return undefined;
  return { name: `${product} ${version.split(".").slice(0, 2).join(".")}`, product, version, path };
}
