import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { faultyLineOf } from "../../../src/command/config/config-file.ts";
import { freePort, type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";
import { startTlsRedis } from "../../managed/tls-redis.ts";
import { command, commandInVain, program } from "../command.ts";

const PASSWORD = "planted-secret";
const { REDIS_URL, ORIEL_CONFIG } = process.env;
let server: RedisServer;
let folder: string;
/** With its password. */
let url: string;
let closed: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "oriel-config-"));
  server = await startRedis({ tcp: true });
  const client = new Redis(server.url);
  await client.config("SET", "requirepass", PASSWORD);
  client.disconnect();
  url = server.url.replace("redis://", `redis://:${PASSWORD}@`);
  closed = `redis://127.0.0.1:${await freePort()}`;
});
afterEach(() => {
  for (const [name, value] of Object.entries({ REDIS_URL, ORIEL_CONFIG }))
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await server?.stop();
});

function written(content: unknown, name = "oriel.config.json"): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

const counts = (...more: string[]) => command(["queue", "counts", "q", ...more]);
const countsInVain = (...more: string[]) => commandInVain(["queue", "counts", "q", ...more]);
const DONE = { status: 0, stderr: "" };
const REFUSED = { status: 2, stderr: expect.stringMatching(/^oriel: (UNAVAILABLE|DEADLINE) /) };

describe("a flag wins over the environment, and that over the file", () => {
  test("the file alone: --config, ORIEL_CONFIG, and ./oriel.config.json", async () => {
    delete process.env.REDIS_URL;
    const path = written({ redis: url });
    expect(await counts("--config", path)).toMatchObject(DONE);
    process.env.ORIEL_CONFIG = path;
    expect(await counts()).toMatchObject(DONE);
    expect(await countsInVain("--config", written({ redis: closed }, "closed.json"))).toMatchObject(REFUSED);
    delete process.env.ORIEL_CONFIG;
    expect(await counts()).toMatchObject({ status: 2, stderr: expect.stringMatching(/required option '--redis/) });
    expect(await program(["queue", "counts", "q"], () => {}, { cwd: folder })).toMatchObject(DONE);
  });

  test("REDIS_URL wins over the file, and --redis over REDIS_URL", async () => {
    const path = written({ redis: closed });
    process.env.REDIS_URL = url;
    expect(await counts("--config", path)).toMatchObject(DONE);
    process.env.REDIS_URL = closed;
    expect(await countsInVain("--config", written({ redis: url }))).toMatchObject(REFUSED);
    expect(await counts("--config", path, "--redis", url)).toMatchObject(DONE);
  });

  test("the prefix of the file, and of the flag", async () => {
    delete process.env.REDIS_URL;
    const path = written({ redis: url, prefix: "ours:" });
    const client = new Redis(url);
    await client.eval("redis.call('SET', 'ours:{q}:probe', '1')", 0);
    const wrong = written({ redis: url, prefix: "a{b}" }, "wrong.json");
    expect(await counts("--config", wrong)).toMatchObject({ status: 2, stderr: expect.stringContaining("prefix") });
    expect(await counts("--config", wrong, "--prefix", "ours:")).toMatchObject(DONE);
    expect(await counts("--config", path)).toMatchObject(DONE);
    client.disconnect();
  });

  test("replay and demo use a server only if --redis or --config asks for it", async () => {
    process.env.ORIEL_CONFIG = written({ redis: closed });
    const csv = "time,value\n1394163660,1\n";
    expect(await command(["replay", "-"], csv)).toMatchObject({ status: 0 });
    expect(await commandInVain(["replay", "-", "--config", process.env.ORIEL_CONFIG], csv)).toMatchObject({
      status: 2,
    });
  });
});

test("tls of the file: paths beside the file, for each command and for doctor", async () => {
  delete process.env.REDIS_URL;
  const redis = await startTlsRedis();
  mkdirSync(join(folder, "tls"), { recursive: true });
  writeFileSync(join(folder, "tls", "ca.pem"), redis.certificates.ca.cert);
  const tlsUrl = `rediss://127.0.0.1:${redis.tlsPort}`;
  const path = written({ redis: tlsUrl, tls: { ca: "tls/ca.pem" } });
  expect(await counts("--config", path)).toMatchObject(DONE);
  expect((await command(["doctor", "--config", path])).stdout).toMatch(/^good +connection/m);
  expect(await countsInVain("--config", written({ redis: tlsUrl }, "bare.json"))).toMatchObject({
    status: 2,
    stderr: expect.stringContaining("certificate is not trusted"),
  });
  // The server of the flag has no TLS.
  expect(await counts("--config", path, "--redis", url)).toMatchObject(DONE);
  const none = written({ redis: tlsUrl, tls: { ca: "tls/none.pem" } }, "none.json");
  expect(await counts("--config", none)).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/tls\.ca of the configuration file cannot be read: ENOENT/),
  });
  await redis.stop();
});

test("doctor and dashboard read the file too", async () => {
  delete process.env.REDIS_URL;
  const path = written({ redis: url, dashboardToken: "0123456789abcdef0123" });
  const report = await command(["doctor", "--config", path, "--json"]);
  expect(JSON.parse(report.stdout)).toMatchObject({ server: { product: "Redis" } });
  const served = await program(["dashboard", "--port", "0", "--config", path], (stdout, child) => {
    if (stdout.includes("\n")) child.kill("SIGINT");
  });
  expect(served).toMatchObject({ status: 0, stdout: expect.stringContaining("?token=0123456789abcdef0123") });
  const rest = written({ url: "http://127.0.0.1:1" }, "rest.json");
  expect(await command(["doctor", "--config", rest])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining("token in a configuration file"),
  });
});

test("a token of the file is sent to the file's server only", async () => {
  const seen: (string | undefined)[] = [];
  const rest = createServer((request, response) => {
    seen.push(request.headers.authorization);
    response.writeHead(401).end("{}");
  }).listen(0, "127.0.0.1");
  await once(rest, "listening");
  const own = `http://127.0.0.1:${(rest.address() as AddressInfo).port}`;
  const path = written({ url: own, token: PASSWORD }, "rest.json");
  await command(["doctor", "--config", path, "--deadline", "1m"]);
  expect(seen).toContain(`Bearer ${PASSWORD}`);
  seen.length = 0;
  const other = await command(["doctor", "--config", path, "--url", own.replace("127.0.0.1", "localhost")]);
  expect([other.status, seen]).toEqual([2, []]);
  rest.close();
});

test.each([
  ["a folder", {}, /--config .* cannot be read: EISDIR/],
  ["no JSON", `{\n  "redis": "redis://:${PASSWORD}@h",\n  "prefix": ${PASSWORD}\n}`, /is no JSON: line 3$/],
  ["a comma too many", `{\n  "redis": "redis://:${PASSWORD}@h",\n}`, /is no JSON: line 3$/],
  ["an end that is missing", `{\n  "token": "${PASSWORD}`, /is no JSON: line 2$/],
  ["nothing", "", /is no JSON: line 1$/],
  ["an unknown key", { redsi: `redis://:${PASSWORD}@h` }, /option of .* is "redsi".*did you mean "redis"\?$/],
  ["a key of tls that is none", { tls: { cert_file: "x" } }, /option of tls in .* is "cert_file"; it must be one of/],
  ["a number", { token: 12345 }, /token in .* is a number; it must be a text$/],
  ["an empty text", { redis: "" }, /redis in .* is empty; it must be a text$/],
  ["a list", [PASSWORD], /is a list; it must be an object$/],
  ["tls as a text", { tls: PASSWORD }, /tls in .* is a string; it must be an object$/],
  ["another scheme", { redis: `postgres://u:${PASSWORD}@h` }, /redis in .* has the scheme postgres:\/\//],
  ["two servers", { redis: `redis://:${PASSWORD}@h`, url: "https://h", token: PASSWORD }, /has redis and url/],
])("%s: one clear error without a secret", async (what, content, message) => {
  const path = what === "a folder" ? folder : written(content, "bad.json");
  for (const args of [["queue", "counts", "q"], ["doctor"], ["dashboard", "--port", "0"]]) {
    const { status, stdout, stderr } = await command([...args, "--config", path]);
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr.split("\n")[0]).toMatch(message);
    expect(stderr).toMatch(/^oriel: ARGUMENT [^\n]+\nsee \S+#argument\n$/);
    expect(stderr).not.toMatch(/planted-secret|12345/);
  }
});

test("a named file that is missing", async () => {
  const { status, stderr } = await counts("--config", join(folder, "absent.json"));
  expect([status, stderr]).toEqual([
    2,
    expect.stringMatching(/^oriel: ARGUMENT --config .*absent\.json cannot be read: ENOENT/),
  ]);
  process.env.ORIEL_CONFIG = join(folder, "absent.json");
  expect((await counts()).stderr).toMatch(/^oriel: ARGUMENT ORIEL_CONFIG .*absent\.json cannot be read: ENOENT/);
});

test.each([
  ['{"a": 1,\n\n "b" 2}', 3],
  ['{\n"a": [1,\n2\n3]}', 4],
  ['{\n"a": "x\ny"}', 2],
  ['{\n"a": tru\n}', 2],
  ["{}\n}", 2],
])("the faulty line of %j is %i", (text, line) => {
  expect(faultyLineOf(text)).toBe(line);
});
