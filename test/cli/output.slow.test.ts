import { spawn } from "node:child_process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Lock, redisStore } from "../../src/entries/index.ts";
import { builtProgram } from "../harness/built-program.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";

const CLI = new URL("../../src/command/cli.ts", import.meta.url);

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis({ tcp: true });
  const store = redisStore(server.url);
  await new Lock(store, "imports").tryLock({ lease: 60_000 });
  await store.close();
});
afterAll(() => server?.stop());

/** Runs the program with a pipe whose reader has closed it before the program writes, as after `| head`. */
async function unread(args: readonly string[], input: string, closed: "stdout" | "stderr") {
  const child = spawn(process.execPath, [builtProgram(CLI), ...args]);
  child[closed].destroy();
  let printed = "";
  child[closed === "stdout" ? "stderr" : "stdout"].on("data", (chunk) => {
    printed += chunk;
  });
  child.stdin.on("error", () => {}).end(input);
  const status = await new Promise((resolve) => child.on("close", resolve));
  return { status, printed };
}

const EVENTS = Array.from({ length: 20_000 }, (_, i) => `{"timestamp":${i},"value":1}\n`).join("");

test.each([
  "help",
  "help count",
  "help --json",
  "count --help",
  "version",
  "--version",
  "completion bash",
  "ls --redis URL",
  "replay - --json",
])("oriel %s ends quietly if the reader of its output is gone", async (line) => {
  const { status, printed } = await unread(line.replace("URL", server.url).split(" "), EVENTS, "stdout");
  // The summary of a replay is for people, on the other stream.
  expect([status, printed.replace(/^oriel: read as .*\noriel: \d+ lines, .*\n$/, "")]).toEqual([0, ""]);
});

test("an error that nobody reads keeps its exit status", async () => {
  expect(await unread(["no-such-command"], "", "stderr")).toEqual({ status: 2, printed: "" });
});
