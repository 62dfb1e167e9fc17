import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer as createHttp } from "node:http";
import { type AddressInfo, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RespConnection } from "../../harness/network/resp-connection.ts";
import { startCluster } from "../../harness/servers/redis-cluster.ts";
import { freePort, type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";
import { until } from "../../harness/until.ts";

/** A server in trouble: the calls, and the expected reasons. */
export interface Trouble {
  url: string;
  /** Of the reason in the message. */
  reported: RegExp;
  transient: boolean;
  /** Default: "UNAVAILABLE". */
  code?: "OVERLOADED" | "UNAVAILABLE";
  /** True where waiting cannot help, so the call must reject well before the deadline. */
  atOnce: boolean;
  end(): unknown;
  /** A client that does not read the reason, or considers this connection ready, so the outcome of a call is unknown. */
  except?: string;
}

const redis = async (args: string[], ...commands: string[][]): Promise<RedisServer> => {
  const server = await startRedis({ tcp: true, args });
  await command(server.url, ...commands);
  return server;
};

async function command(url: string, ...commands: string[][]): Promise<void> {
  if (commands.length === 0) return;
  const connection = new RespConnection(url);
  await connection.send(commands);
  connection.close();
}

/** True if a write is refused with this code. */
async function refuses(url: string, code: string): Promise<boolean> {
  const connection = new RespConnection(url);
  try {
    const [answer] = await connection.send([["SET", "a", "1"]]);
    return JSON.stringify(answer).includes(code);
  } catch (error) {
    return String(error).includes(code);
  } finally {
    connection.close();
  }
}

async function clusterId(url: string): Promise<string> {
  const connection = new RespConnection(url);
  const [reply] = (await connection.send([["CLUSTER", "MYID"]])) as [{ bulk: Buffer }];
  connection.close();
  return reply.bulk.toString();
}

const listening = (server: Server): Promise<string> =>
  new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve(`redis://127.0.0.1:${(server.address() as AddressInfo).port}`));
  });

const withAuthority = (url: string, authority: string, scheme = "redis://") =>
  url.replace("redis://", scheme + authority);

/** A server that refuses each connection before it is asked, as Redis does, and closes it when the first command comes. */
async function refusing(text: string, trouble: Pick<Trouble, "reported" | "transient" | "atOnce">): Promise<Trouble> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.write(`-${text}\r\n`);
    socket.once("data", () => socket.destroy());
  });
  return { url: await listening(server), ...trouble, except: "node-redis 5", end: () => server.close() };
}

/** Each starts its own server. */
export const troubles: Record<string, () => Promise<Trouble>> = {
  "protected mode": () =>
    refusing("DENIED Redis is running in protected mode because no password is set. In this mode", {
      reported: /the server is in protected mode \(DENIED Redis/,
      transient: false,
      atOnce: true,
    }),
  "no room for a connection": () =>
    refusing("ERR max number of clients reached", {
      reported: /has no room for another connection \(ERR max number of clients reached\)/,
      transient: true,
      atOnce: false,
    }),
  async "a wrong password"() {
    const { url, stop } = await redis([], ["CONFIG", "SET", "requirepass", "right"]);
    const reported = /refused the user name or password \(WRONGPASS/;
    return { url: withAuthority(url, ":planted-secret@"), reported, transient: false, atOnce: true, end: stop };
  },
  async "no password"() {
    const { url, stop } = await redis([], ["CONFIG", "SET", "requirepass", "right"]);
    return {
      url,
      reported: /requires a password.*\(NOAUTH/,
      transient: false,
      atOnce: true,
      end: stop,
      except: "node-redis",
    };
  },
  async "a user who may not run scripts"() {
    const acl = ["ACL", "SETUSER", "ann", "on", ">planted-secret", "~*", "&*", "+@all", "-@scripting"];
    const { url, stop } = await redis([], acl);
    const reported = /ACL rules do not allow this \(NOPERM .*(evalsha|script)/;
    return { url: withAuthority(url, "ann:planted-secret@"), reported, transient: false, atOnce: true, end: stop };
  },
  async "a user who may not touch the keys"() {
    const acl = ["ACL", "SETUSER", "ann", "on", ">planted-secret", "~other:*", "&*", "+@all"];
    const { url, stop } = await redis([], acl);
    const reported = /ACL rules do not allow this \(NOPERM .*key/;
    return { url: withAuthority(url, "ann:planted-secret@"), reported, transient: false, atOnce: true, end: stop };
  },
  async "a database that there is not"() {
    const { url, stop } = await redis([]);
    return {
      url: `${url}/99`,
      reported: /does not have this database \(ERR .*\) \(redis at 127\.0\.0\.1:\d+\/99\)$/,
      transient: false,
      atOnce: true,
      end: stop,
    };
  },
  async "an HTTP server"() {
    const server = createHttp((_, response) => response.writeHead(404).end("<h1>Not Found</h1>"));
    const reported = /not a Redis server: it answers HTTP/;
    return { url: await listening(server), reported, transient: false, atOnce: true, end: () => server.close() };
  },
  async "TLS to a plain port"() {
    const { url, stop } = await redis([]);
    const reported = /does not answer the TLS handshake; it may speak no TLS on this port/;
    return { url: withAuthority(url, "", "rediss://"), reported, transient: false, atOnce: false, end: stop };
  },
  async "no TLS to a TLS port"() {
    const folder = mkdtempSync(join(tmpdir(), "oriel-tls-"));
    const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
    const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
    const request = ["req", "-x509", ...newKey, "-nodes", "-days", "1", "-subj", "/CN=127.0.0.1"];
    execFileSync("openssl", [...request, "-keyout", key, "-out", cert], { stdio: "ignore" });
    const files = ["--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", cert];
    const { url, stop } = await redis(["--tls-auth-clients", "no", ...files]);
    const tlsPort = Number(new URL(url).port) + 10_000;
    await command(url, ["CONFIG", "SET", "tls-port", String(tlsPort)]);
    const end = async () => {
      await stop();
      rmSync(folder, { recursive: true });
    };
    return {
      url: `redis://127.0.0.1:${tlsPort}`,
      reported: /may expect TLS on this port/,
      transient: true,
      atOnce: false,
      end,
    };
  },
  async "a silent server"() {
    const server = createServer((socket) => socket.on("error", () => {}));
    const reported = /accepts connections and does not answer/;
    return { url: await listening(server), reported, transient: true, atOnce: false, end: () => server.close() };
  },
  async "nobody there"() {
    const server = createServer();
    const url = await listening(server);
    server.close();
    return {
      url,
      reported: /nothing accepts connections at this address .*ECONNREFUSED/,
      transient: true,
      atOnce: false,
      end() {},
    };
  },
  async "an unknown host"() {
    const reported = /host name (is unknown|could not be looked up) .*(ENOTFOUND|EAI_AGAIN)/;
    return { url: `redis://${"x".repeat(64)}.invalid:6379`, reported, transient: false, atOnce: false, end() {} };
  },
  async "a replica"() {
    const primary = await redis([]);
    const { url, stop } = await redis(["--replicaof", "127.0.0.1", new URL(primary.url).port]);
    const end = () => Promise.all([stop(), primary.stop()]);
    return {
      url,
      reported: /replica, which takes no writes \(READONLY .*\); use the primary's address/,
      transient: true,
      atOnce: false,
      end,
    };
  },
  async "a replica without its primary"() {
    const { url, stop } = await redis(["--replica-serve-stale-data", "no", "--replicaof", "127.0.0.1", "1"]);
    // A write is refused as on any replica, before the link matters.
    const reported = /(without its primary \(MASTERDOWN|takes no writes \(READONLY) .*\); use the primary's address/;
    return { url, reported, transient: true, atOnce: false, end: stop };
  },
  async "a server that loads its data"() {
    const folder = mkdtempSync(join(tmpdir(), "oriel-loading-"));
    const before = await redis(["--dir", folder, "--rdbcompression", "no"]);
    const values = Array.from({ length: 2000 }, (_, i) => ["SET", `k${i}`, "v".repeat(2000)]);
    await command(before.url, ...values, ["SAVE"]);
    await before.stop();
    const slowly = ["--key-load-delay", "20000", "--loading-process-events-interval-bytes", "1024"];
    const { url, stop } = await redis(["--dir", folder, ...slowly]);
    const end = async () => {
      await stop();
      rmSync(folder, { recursive: true });
    };
    const reported = /the server is loading its data \(LOADING .*\); wait until it is ready/;
    return { url, reported, transient: true, atOnce: false, end };
  },
  async "a full server"() {
    const { url, stop } = await redis(["--maxmemory", "1"]);
    const reported = /: Redis is out of memory; raise its maxmemory, or free memory \(/;
    return { url, reported, transient: true, atOnce: true, code: "OVERLOADED", end: stop };
  },
  async "a server without EVALSHA"() {
    const { url, stop } = await redis(["--rename-command", "EVALSHA", ""]);
    const reported = /does not know a command \(ERR unknown command 'evalsha'.*\); use Redis 7 or later/i;
    return { url, reported, transient: false, atOnce: true, end: stop };
  },
  async "a node of a cluster without slots"() {
    const { url, stop } = await redis(["--cluster-enabled", "yes", "--cluster-port", String(await freePort())]);
    const reported = /the cluster is down \(CLUSTERDOWN .*\); check CLUSTER NODES/;
    return { url, reported, transient: true, atOnce: false, end: stop };
  },
  async "a node of a cluster that has other slots"() {
    const { nodes, stop } = await startCluster(2);
    const [first, second] = [nodes[0]!, nodes[1]!];
    const id = await clusterId(second.url);
    const slots = Array.from({ length: 8192 }, (_, slot) => ["CLUSTER", "SETSLOT", String(slot), "NODE", id]);
    await command(second.url, ...slots);
    await command(first.url, ...slots);
    const reported = /another node of the cluster has the key's slot \(MOVED \d+ .*\); .* pass a cluster's client/;
    return { url: first.url, reported, transient: true, atOnce: false, end: stop };
  },
  async "a script that does not end"() {
    const { url, stop } = await redis(["--busy-reply-threshold", "50"]);
    const connection = new RespConnection(url);
    connection.send([["EVAL", "while true do end", "0"]]).catch(() => {});
    await until("the script is busy", () => refuses(url, "BUSY"));
    const end = async () => {
      await command(url, ["SCRIPT", "KILL"]);
      connection.close();
      await stop();
    };
    return { url, reported: /runs a script that does not end \(BUSY/, transient: true, atOnce: false, end };
  },
  async "too few replicas"() {
    const { url, stop } = await redis(["--min-replicas-to-write", "1"]);
    return { url, reported: /fewer replicas than it needs .*\(NOREPLICAS/, transient: true, atOnce: false, end: stop };
  },
  async "a disk that cannot be written"() {
    const { url, stop } = await redis(["--save", "3600 1", "--dir", "/proc/self"]);
    await command(url, ["SET", "a", "1"], ["BGSAVE"]);
    await until("the writing has failed", () => refuses(url, "MISCONF"));
    return { url, reported: /cannot save its data.*\(MISCONF/, transient: true, atOnce: false, end: stop };
  },
};
