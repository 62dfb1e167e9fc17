import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";
import { command } from "../command.ts";

let redis: RedisServer;
let folder: string;
beforeAll(async () => {
  redis = await startRedis({ tcp: true });
  folder = mkdtempSync(join(tmpdir(), "oriel-cli-"));
});
afterAll(async () => {
  await redis.stop();
  rmSync(folder, { recursive: true });
});

const replay = (name: string, lines: string[], ...args: string[]) =>
  command(
    ["replay", "-", "--json", "--span", "1m", "--name", name, "--redis", redis.url, ...args],
    lines.map((line) => `${line}\n`).join(""),
  );

test("a key whose series is corrupt is skipped and named, and the other keys are replayed", async () => {
  const first = await replay("a", ["time,value,key", "1394163660,1,good", "1394163661,2,bad"], "--key", "key");
  expect(first.status, first.stderr).toBe(0);
  const raw = new Redis(redis.url);
  const keys = await raw.keys("*a:bad*");
  expect(keys.length).toBeGreaterThan(0);
  for (const key of keys) await raw.multi().del(key).hset(key, "foreign", "1").exec();
  raw.disconnect();
  const lines = ["1394163760,3,bad", "1394163761,4,good", "1394163762,5,bad", "1394163900,6,good", "1394163901,7,bad"];
  const { status, stdout, stderr } = await replay("a", ["time,value,key", ...lines], "--key", "key");
  expect(status, stderr).toBe(1);
  const rows = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(rows.map(({ key, sum }) => [key, sum])).toEqual([
    ["good", 4],
    ["good", 6],
  ]);
  expect(stderr).toMatch(/^oriel: the key "bad" is skipped: CORRUPT [^\n]+$/m);
  expect(stderr).toMatch(/; 3 events of 1 skipped key \(kernel/);
});

test("a key whose series has other settings is skipped, too", async () => {
  const key = ["--key", "key"];
  await replay("b", ["time,value,key", "1394163660,1,old"], ...key, "--values", "float32");
  const { status, stdout, stderr } = await replay(
    "b",
    ["time,value,key", "1394163760,3,old", "1394163761,4,new"],
    ...key,
  );
  expect(status, stderr).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ key: "new", sum: 4 });
  expect(stderr).toMatch(/^oriel: the key "old" is skipped: MISMATCH [^\n]+$/m);
});

test("without --key the only series cannot be skipped", async () => {
  await replay("c", ["time,value", "1394163660,1"], "--values", "float32");
  const { status, stdout, stderr } = await replay("c", ["time,value", "1394163760,3"]);
  expect([status, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(/"code":"MISMATCH"/);
});

test.each([
  ["missing", () => join(folder, "none.csv"), /^oriel: ENOENT: no such file or directory, open '[^\n]+none\.csv'\n$/],
  ["a folder", () => folder, /^oriel: EISDIR: [^\n]+\n$/],
  [
    "compressed",
    () => written("a.csv.gz", gzipSync("time,value\n1394163660,1\n")),
    /^oriel: [^\n]+ is not text[^\n]+\n/,
  ],
  [
    "binary",
    () => written("a.bin", Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2, 0])),
    /^oriel: [^\n]+ is not text[^\n]+\n/,
  ],
])("a file that is %s: one error, and exit status 2", async (_name, path, message) => {
  const { status, stdout, stderr } = await command(["replay", path()]);
  expect([status, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(message);
});

test.skipIf(process.getuid?.() === 0)("a file that may not be read: one error, and exit status 2", async () => {
  const path = written("secret.csv", Buffer.from("time,value\n"));
  chmodSync(path, 0o000);
  const { status, stderr } = await command(["replay", path]);
  expect(status).toBe(2);
  expect(stderr).toMatch(/^oriel: EACCES: permission denied, open '[^\n]+'\n$/);
});

function written(name: string, bytes: Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}
