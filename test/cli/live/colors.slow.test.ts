import { stripVTControlCharacters } from "node:util";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { command } from "../command.ts";
import { openStage, type Stage } from "./stage.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
  await stage.breaker.open();
});
afterAll(() => stage?.close());

const { NO_COLOR, FORCE_COLOR, TERM } = process.env;
afterEach(() => {
  for (const [name, value] of Object.entries({ NO_COLOR, FORCE_COLOR, TERM }))
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
});

const TABLES: [args: string[], input?: string][] = [
  [["ls"]],
  [["top", "--once"]],
  [["breaker", "ls"]],
  [["limit", "peek", "api", "10.0.0.7"]],
  [["stats", "api"]],
  [["replay", "-"], "time,value\n1394163660,1\n"],
];

test.each(TABLES)("the table of %j has colours where they are wanted", async (args, input = "") => {
  const server = args[0] === "replay" ? [] : ["--redis", stage.server.url];
  const printed = async (env: object, isTTY: boolean) => {
    for (const name of ["NO_COLOR", "FORCE_COLOR"]) delete process.env[name];
    Object.assign(process.env, { TERM: "xterm" }, env);
    const { status, stdout } = await command([...args, ...server], input, { isTTY, columns: 100 });
    expect(status).toBe(0);
    return stdout;
  };
  const terminal = await printed({}, true);
  expect(stripVTControlCharacters(terminal)).not.toBe(terminal);
  for (const [env, isTTY] of [
    [{}, false],
    [{ NO_COLOR: "1" }, true],
    [{ NO_COLOR: "1", FORCE_COLOR: "1" }, true],
  ] as const) {
    const plain = await printed(env, isTTY);
    expect(plain).not.toBe("");
    expect(stripVTControlCharacters(plain)).toBe(plain);
  }
  const forced = await printed({ FORCE_COLOR: "1" }, false);
  expect(stripVTControlCharacters(forced)).not.toBe(forced);
});
