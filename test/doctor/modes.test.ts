import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { startCluster } from "../harness/servers/redis-cluster.ts";
import { freePort, startRedis } from "../harness/servers/redis-server.ts";
import { startSentinel } from "../harness/servers/sentinel.ts";
import { troubles } from "../store/faults/troubled-servers.ts";
import { reportOf } from "./report-of.ts";

test("a Sentinel, a primary and a replica under it each say what to pass", async () => {
  const { sentinels, primary, replicas, stop } = await startSentinel(1);
  try {
    const sentinel = await reportOf(sentinels[0]!.url);
    expect(sentinel).toMatchObject({ status: 2, report: { mode: "sentinel" } });
    expect(sentinel.check("mode")).toMatchObject({
      text: "this is a Sentinel, which stores no data",
      advice: expect.stringContaining("sentinels and name"),
    });
    const { status, check } = await reportOf(primary.url);
    expect(status).toBe(1);
    expect(check("mode")).toMatchObject({
      verdict: "note",
      text: "a primary under Sentinel, 1 replica; a store by URL does not follow a failover",
      facts: { replicas: 1, hasSentinel: true },
    });
    const replica = await reportOf(replicas[0]!.url);
    expect(replica.status).toBe(2);
    expect(replica.check("mode").text).toContain("under Sentinel (link up), which takes no writes");
  } finally {
    await stop();
  }
});

test("a replica without its primary is unusable, and its version is still named", async () => {
  const args = ["--replica-serve-stale-data", "no", "--replicaof", "127.0.0.1", String(await freePort())];
  const { url, stop } = await startRedis({ tcp: true, args });
  try {
    const { status, check } = await reportOf(url);
    expect(status).toBe(2);
    expect(check("connection").text).toMatch(/^the server is a replica without its primary \(MASTERDOWN .*\)$/);
    expect(check("connection").advice).toBe("Use the primary's address, or repair the link.");
    expect(check("version").verdict).toBe("good");
    expect(check("mode").text).toContain("(link down)");
  } finally {
    await stop();
  }
});

test("a server that loads its data says so, and has a version", async () => {
  const { url, end } = await troubles["a server that loads its data"]!();
  try {
    const { status, check } = await reportOf(url);
    expect(status).toBe(2);
    expect(check("connection")).toMatchObject({
      text: expect.stringMatching(/^the server is loading its data \(LOADING /),
      advice: "Wait until it is ready.",
    });
    expect(check("version").verdict).toBe("good");
  } finally {
    await end();
  }
});

test("a user of a cluster who may not ask for its slots", async () => {
  const cluster = await startCluster(2);
  const clients = cluster.urls.map((url) => new Redis(url));
  try {
    const rules = ["on", ">password", "~*", "&*", "+@all", "-cluster"];
    for (const client of clients) await client.call("ACL", "SETUSER", "app", ...rules);
    const { status, check, report } = await reportOf(cluster.url.replace("//", "//app:password@"));
    expect(status).toBe(2);
    expect(check("mode")).toMatchObject({
      verdict: "unusable",
      text: expect.stringMatching(/^a cluster, whose clients need CLUSTER SLOTS: the user's ACL rules .*NOPERM/),
      advice: "Run ACL SETUSER app +cluster|slots +cluster|info on each node.",
    });
    expect(report.checks.map(({ name }) => name)).not.toContain("steps");
    // The probes reach the slot's node without that right.
    expect(check("writes").verdict).toBe("good");
    for (const client of clients) expect(await client.keys("*")).toEqual([]);
  } finally {
    for (const client of clients) client.disconnect();
    await cluster.stop();
  }
});

test("a port that expects TLS, and one whose certificate is not trusted", async () => {
  const folder = mkdtempSync(join(tmpdir(), "oriel-tls-"));
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
  const request = ["req", "-x509", ...newKey, "-nodes", "-days", "1", "-subj", "/CN=127.0.0.1"];
  execFileSync("openssl", [...request, "-keyout", key, "-out", cert], { stdio: "ignore" });
  const files = ["--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", cert];
  const { url, stop } = await startRedis({ tcp: true, args: ["--tls-auth-clients", "no", ...files] });
  const raw = new Redis(url);
  try {
    const tlsPort = await freePort();
    await raw.config("SET", "tls-port", tlsPort);
    const plain = await reportOf(`redis://127.0.0.1:${tlsPort}`);
    expect(plain.status).toBe(2);
    expect(plain.check("connection").text).toMatch(/may expect TLS on this port \(rediss:/);
    const untrusted = await reportOf(`rediss://127.0.0.1:${tlsPort}`);
    expect(untrusted.check("connection").text).toMatch(/^the server's TLS certificate is not trusted \(/);
  } finally {
    raw.disconnect();
    await stop();
    rmSync(folder, { recursive: true });
  }
});
