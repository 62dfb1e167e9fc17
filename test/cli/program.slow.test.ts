import { stripVTControlCharacters } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { makeProgram } from "../../src/command/program.ts";
import { Lock, redisStore, type WatchedStore } from "../../src/entries/index.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { command, pageOf } from "./command.ts";

const NAMES = makeProgram(process, () => {}).commands.map((each) => each.name());
const { REDIS_URL } = process.env;

let server: RedisServer;
let store: WatchedStore;
beforeAll(async () => {
  server = await startRedis({ tcp: true });
  store = redisStore(server.url);
});
afterEach(() => {
  if (REDIS_URL === undefined) delete process.env.REDIS_URL;
  else process.env.REDIS_URL = REDIS_URL;
});
afterAll(async () => {
  await store?.close();
  await server?.stop();
});

test.each(["help", "--help", "-h"])("oriel %s lists every command, and fits into 80 columns", async (word) => {
  const { status, stdout, stderr } = await command([word]);
  expect([status, stderr]).toEqual([0, ""]);
  for (const name of [...NAMES, "help"]) expect(stdout).toMatch(new RegExp(`^ {2}${name}\\b`, "m"));
  expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
});

describe("colours and width of the help", () => {
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env;
  afterEach(() => {
    for (const [name, value] of Object.entries({ NO_COLOR, FORCE_COLOR, TERM }))
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
  });

  test.each([
    [{}, false, false],
    [{}, true, true],
    [{ TERM: "dumb" }, true, false],
    [{ NO_COLOR: "1" }, true, false],
    [{ FORCE_COLOR: "1" }, false, true],
    [{ NO_COLOR: "1", FORCE_COLOR: "1" }, true, false],
  ])("%j, a terminal %s: colours %s", async (env, isTTY, isColored) => {
    for (const name of ["NO_COLOR", "FORCE_COLOR"]) delete process.env[name];
    Object.assign(process.env, { TERM: "xterm" }, env);
    const { stdout } = await command(["help"], "", { isTTY, columns: 60 });
    expect(stdout.includes("\u001b[")).toBe(isColored);
    const plain = stripVTControlCharacters(stdout);
    expect(plain.split("\n").filter((line) => line.length > (isTTY ? 60 : 80))).toEqual([]);
    expect(plain).toContain("Usage: oriel");
  });

  test.each([...NAMES, ""])("40 columns suffice for the help of %s, besides usage and examples", async (name) => {
    const { stdout } = await command(["help", name].filter(Boolean), "", { isTTY: true, columns: 40 });
    const [help = "", ...examples] = stripVTControlCharacters(stdout).split(/^Examples:?$/m);
    expect(examples).toHaveLength(1);
    expect(help).toContain("Exit status");
    const wide = help.split("\n").filter((line) => line.length > 40 && !line.startsWith("Usage:"));
    expect(wide).toEqual([]);
  });
});

test.each(NAMES)("the help of %s has examples and its exit statuses", async (name) => {
  const { status, stdout } = await command(["help", name]);
  expect(status).toBe(0);
  expect(stdout).toMatch(/^Exit status/m);
  expect(stdout).toMatch(/^Examples/m);
  expect(stdout).toMatch(new RegExp(`^.*oriel ${name}\\b`, "m"));
  expect((await command([name, "--help"])).stdout).toBe(stdout);
});

test("oriel help --json lists the commands with their arguments and options", async () => {
  const { status, stdout } = await command(["help", "--json"]);
  expect(status).toBe(0);
  const { name, commands } = JSON.parse(stdout);
  expect(name).toBe("oriel");
  expect(commands.map((each: { name: string }) => each.name)).toEqual(NAMES);
  const one = JSON.parse((await command(["help", "limit", "--json"])).stdout);
  expect(commands).toContainEqual(one);
  expect(one.arguments[0]).toMatchObject({ name: "what", isRequired: true, choices: expect.arrayContaining(["peek"]) });
  expect(one.options).toContainEqual(expect.objectContaining({ flags: "--redis <url>", env: "REDIS_URL" }));
  expect(await command(["help", "lokc", "--json"])).toMatchObject({ status: 2, stdout: "" });
});

test.each(["version", "--version", "-V"])("oriel %s prints the version", async (word) => {
  expect(await command([word])).toEqual({ status: 0, stdout: `${manifest.version}\n`, stderr: "" });
});

test.each([[["lokc"]], [["help", "lokc"]]])(
  "%j: an unknown command names the known ones, and the nearest",
  async (args) => {
    const { status, stderr } = await command(args);
    expect(status).toBe(2);
    expect(stderr).toBe(
      `oriel: unknown command 'lokc' (Did you mean lock?); the commands are ${NAMES.join(", ")}, help\n`,
    );
  },
);

test("without --redis the error names REDIS_URL, which replaces it", async () => {
  delete process.env.REDIS_URL;
  const { status, stderr } = await command(["queue", "counts", "q"]);
  expect([status, stderr]).toEqual([
    2,
    "oriel: ARGUMENT required option '--redis <url>' not specified; REDIS_URL of the environment or redis of a configuration file can replace it\n" +
      `see ${pageOf("ARGUMENT")}\n`,
  ]);
  process.env.REDIS_URL = server.url;
  expect(await command(["queue", "counts", "q"])).toMatchObject({ status: 0, stdout: expect.stringMatching(/ 0 /) });
});

describe("errors under --json are one object on stderr", () => {
  test.each(NAMES)("%s takes --json", async (name) => {
    expect((await command([name, "--help"])).stdout).toContain("--json");
  });

  test.each([
    [["queue", "counts", "q", "--redis", "redis://127.0.0.1:1", "--json"], "UNAVAILABLE", /./],
    [["queue", "counts", "q", "--redis", "http://x", "--json"], "ARGUMENT", /--redis has the scheme/],
    [["queue", "count", "q", "--json"], "ARGUMENT", /Allowed choices/],
    [["ls", "--jsn", "--json"], "ARGUMENT", /unknown option '--jsn'/],
    [["lokc", "--json"], "ARGUMENT", /Did you mean lock\?.*the commands are/],
    [["replay", "/no/such/file", "--json"], "ENOENT", /no such file/],
    [["doctor", "--deadline", "never", "--json"], "ARGUMENT", /--deadline/],
  ])("%j", async (args, code, message) => {
    const { status, stdout, stderr } = await command(args);
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr.split("\n")).toHaveLength(2);
    const { help, ...rest } = JSON.parse(stderr);
    expect(rest).toEqual({ code, message: expect.stringMatching(message) });
    if (help !== undefined || code === "UNAVAILABLE") expect(help).toBe(pageOf(code));
  });

  test("an argument that looks like the option does not count", async () => {
    const { stderr } = await command(["limit", "reset", "api", "--redis", "http://x", "--", "--json"]);
    expect(stderr).toMatch(/^oriel: ARGUMENT /);
  });
});

describe("oriel lock", () => {
  const run = (...args: string[]) => command(["lock", ...args, "--redis", server.url]);

  test("shows a lock, and releases only the hold that it has shown", async () => {
    expect(await run("show", "nightly")).toEqual({ status: 0, stdout: "free · 0 processes waiting\n", stderr: "" });
    const held = (await new Lock(store, "nightly").tryLock({ lease: "60s" }))!;
    const shown = await run("show", "nightly");
    expect(shown.stdout).toMatch(/^held · fence \d{16} · lease ends in (\d+(\.\d)? s|1 m) · 0 processes waiting\n$/);
    expect(shown.stdout).toContain(`${held.fence}`);
    expect(JSON.parse((await run("show", "nightly", "--json")).stdout)).toMatchObject({
      name: "nightly",
      isHeld: true,
      fence: held.fence,
    });
    expect(await run("release", "nightly", "--fence", `${held.fence - 1}`)).toMatchObject({
      status: 1,
      stdout: "not released: the lock is free, or another hold has it\n",
    });
    expect(await run("release", "nightly", "--fence", `${held.fence}`)).toMatchObject({
      status: 0,
      stdout: "released\n",
    });
    expect(JSON.parse((await run("release", "nightly", "--json")).stdout)).toEqual({
      name: "nightly",
      isReleased: false,
    });
    expect(await held.extend()).toBe(false);
  });

  test.each([
    [["show", "nightly", "--fence", "1"], '--fence is "1"; leave it out, because only release takes it'],
    [["release", "nightly", "--fence", "1e3"], '--fence is "1e3"; it must be a whole number, as show prints it'],
    [
      ["list", "nightly"],
      "command-argument value 'list' is invalid for argument 'what'. Allowed choices are ls, show, release.",
    ],
  ])("%j is refused", async (args, message) => {
    const { status, stderr } = await run(...args);
    expect(status).toBe(2);
    expect(stderr).toContain(message);
  });
});
