import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCommand } from "../../src/command/program.ts";
import { freePort, startRedis } from "../harness/servers/redis-server.ts";
import { command, program, useDeadlineOfPrograms } from "./command.ts";

const GOOD = "time,value\n1394163660,1\n1394163661,2\n1394164661,3\n";
let folder: string;
let file: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "oriel-cli-"));
  file = join(folder, "good.csv");
  writeFileSync(file, GOOD);
});
afterAll(() => rmSync(folder, { recursive: true }));
useDeadlineOfPrograms();

test.each([
  ["an unknown option", ["--sapn", "5m"], "unknown option '--sapn'"],
  ["a span longer than the retention", ["--span", "5m", "--retention", "1m"], 'ARGUMENT --retention is "1m"'],
  ["percentile 101", ["--percentiles", "50,101"], 'ARGUMENT --percentiles is "50,101"'],
  ["an empty percentile", ["--percentiles", "50,,99"], "ARGUMENT --percentiles"],
  ["an unknown method", ["--method", "guess"], 'method is "guess"'],
  ["a span that is none", ["--span", "5 minutes"], "ARGUMENT --span"],
  ["a window of no length", ["--every", "0"], "ARGUMENT --every"],
  ["an unknown format", ["--format", "xml"], "--format"],
  ["a column that is not there", ["--value", "nope"], 'ARGUMENT --value is "nope"'],
  ["braces in the prefix", ["--redis", "redis://127.0.0.1:1", "--prefix", "a{b}"], "ARGUMENT redisStore: prefix"],
  ["a picture that cannot be written", ["--plot", "/no/such/folder/x.svg"], "ENOENT"],
])("%s: exit status 2 and one line", async (_name, options, message) => {
  const ended = await command(["replay", file, ...options]);
  expect(ended.status).toBe(2);
  expect(ended.stderr).toContain(message);
  expect(ended.stderr).toMatch(/^oriel: [^\n]+\n(?:see \S+#argument\n)?$/);
  expect(ended.stdout).toBe("");
});

test.each([
  ["replay", "-"],
  ["count", "--group", "g", "--stream", "s", "--dimensions", "a"],
  ["queue", "counts", "q"],
])("%s: a wrong --redis is refused, and only its scheme is printed", async (...args) => {
  const secret = "planted-secret";
  for (const url of [
    `postgres://ann:${secret}@db:5432`,
    `redis://ann:${secret}#@db:port`,
    `redis://ann:${secret}@db:6379/${secret}`,
    `redis://127.0.0.1:1,redis://ann:${secret}#@db:port`,
    `/sock,redis://ann:${secret}@db:6379`,
    `${secret}@db:6379`,
  ]) {
    const ended = await command([...args, "--redis", url]);
    expect(ended.status, ended.stderr).toBe(2);
    expect(ended.stderr).toMatch(/^oriel: ARGUMENT (?:redisStore: )?--redis [^\n]+\nsee \S+#argument\n$/);
    expect(ended.stderr + ended.stdout).not.toContain(secret);
  }
});

test("a missing file, a folder and an unknown command: exit status 2 and one line", async () => {
  for (const args of [
    ["replay", join(folder, "none.csv")],
    ["replay", folder],
    ["repaly", file],
    ["replay"],
    ["demo", "--seconds", "0"],
  ]) {
    const ended = await command(args);
    expect(ended.status, args.join(" ")).toBe(2);
    expect(ended.stderr, args.join(" ")).toMatch(/^oriel: [^\n]+\n(?:see \S+#argument\n)?$/);
  }
});

test("unreadable lines: exit status 1, the first five are reported, the others counted, and all results printed", async () => {
  const input = `${GOOD}${"nonsense,1\n".repeat(7)}`;
  const ended = await command(["replay", "-", "--json", "--format", "csv"], input);
  expect(ended.status).toBe(1);
  expect(ended.stdout.trimEnd().split("\n").length).toBe(2);
  const reported = ended.stderr.split("\n").filter((line) => line.startsWith("oriel: line "));
  expect(reported).toEqual([5, 6, 7, 8, 9].map((n) => `oriel: line ${n}: the time "nonsense" is not a time`));
  expect(ended.stderr).toContain("oriel: and 2 more lines that could not be read\n");
  expect(ended.stderr).toContain("7 lines could not be read");
});

test("values that float32 cannot hold are bad lines", async () => {
  const ended = await command(["replay", "-", "--values", "float32"], `${GOOD}1394164662,1e300\n`);
  expect(ended.status).toBe(1);
  expect(ended.stderr).toContain("oriel: line 5: the value 1e+300 is too large for float32");
});

test("no events: exit status 0 and no rows", async () => {
  for (const input of ["", "\n", "time,value\n"]) {
    const ended = await command(["replay", "-"], input);
    expect(ended).toMatchObject({ status: 0, stdout: "" });
  }
});

test("keys may have braces, quotes, control characters and 10 kB", async () => {
  const keys = ["{a}", "b}{", "", "\u001b[31mred", "x".repeat(10_000), "*?[", "☃"];
  const input = keys.map((key) => JSON.stringify({ time: 1394163660000, value: 1, key })).join("\n");
  const json = await command(["replay", "-", "--key", "key", "--json"], input);
  expect(json.status, json.stderr).toBe(0);
  const printed = json.stdout
    .trimEnd()
    .split("\n")
    .map((line) => (JSON.parse(line) as { key: string }).key);
  expect(printed).toEqual([...keys].sort());
  const table = await command(["replay", "-", "--key", "key"], input);
  expect(table.stdout).not.toContain("\u001b");
  expect(table.stdout).toContain("\\x1b[31mred");
});

test("unreachable Redis: exit status 2 and one line, in time", async () => {
  const port = await freePort();
  const ended = await command(["replay", file, "--redis", `redis://127.0.0.1:${port}`]);
  expect(ended.status).toBe(2);
  expect(ended.stderr).toMatch(/^oriel: UNAVAILABLE [^\n]+\nsee \S+#unavailable\n$/);
});

test("Redis dies during the run: printed rows stay, then one line and exit status 2", async () => {
  const redis = await startRedis({ tcp: true });
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const reported = stderr.toArray();
  const running = runCommand(["replay", "-", "--json", "--redis", redis.url], { stdin, stdout, stderr });
  stdin.write(GOOD);
  const [first] = (await new Promise<Buffer>((resolve) => stdout.once("data", resolve))).toString().split("\n");
  expect(JSON.parse(first as string)).toMatchObject({ count: 2, sum: 3 });
  await redis.stop();
  stdin.write("1394174661,4\n1394184661,5\n");
  expect(await running).toBe(2);
  stderr.end();
  expect(JSON.parse(Buffer.concat(await reported).toString())).toMatchObject({
    code: expect.stringMatching(/^(UNAVAILABLE|DEADLINE)$/),
    message: expect.any(String),
  });
});

test("the program has a version and help, and accepts a reader that leaves", async () => {
  expect(await program(["--version"])).toMatchObject({ status: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  const help = await program(["replay", "--help"]);
  expect(help.status).toBe(0);
  expect(help.stdout).toContain("t - lateness > T");
  const long = join(folder, "long.csv");
  const lines = Array.from({ length: 20_000 }, (_, i) => `${1394163660 + i},${i}`);
  writeFileSync(long, `time,value\n${lines.join("\n")}\n`);
  const left = await program(["replay", long, "--span", "1s"], (_, child) => child.stdout?.destroy());
  expect(left.stderr).not.toContain("EPIPE");
  expect(left.status).toBe(0);
});

test("control characters of headers, keys, values, file names and options do not reach the terminal", async () => {
  const steer = "\x1b]0;title\x07\x1b[2J\x9b31m\x7f";
  const named = join(folder, `steer${steer}.csv`);
  writeFileSync(named, `time,value,note\n1394163660,1,${steer}\n1394163661,${steer},x\n${steer},2,x\n`);
  const header = join(folder, "header.csv");
  writeFileSync(header, `time,value,${steer}\n1394163660,1,x\n`);
  const runs = [
    ["replay", named, "--key", "note"],
    ["replay", named, "--key", "note", "--json"],
    ["replay", header, "--key", "nope"],
    ["replay", join(folder, `none${steer}.csv`)],
    ["replay", named, `--${steer}`],
    ["replay", named, "--span", steer],
    [steer],
  ];
  for (const args of runs) {
    const { stdout, stderr } = await command(args);
    expect(stdout + stderr, JSON.stringify(args)).not.toBe("");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    expect(stdout + stderr, JSON.stringify(args)).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/);
  }
});

test("a key that no series can have is a bad line and does not end the run", async () => {
  const lines = [`1394163660,1,${"k".repeat(11_000)}`, "1394163661,2,good"];
  const ended = await command(["replay", "-", "--key", "note", "--json"], `time,value,note\n${lines.join("\n")}\n`);
  expect(ended.status).toBe(1);
  expect(ended.stderr).toContain('line 2: the key "kkk');
  expect(JSON.parse(ended.stdout.trim())).toMatchObject({ key: "good", count: 1 });
});
