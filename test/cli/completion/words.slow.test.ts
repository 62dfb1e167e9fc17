import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { makeProgram } from "../../../src/command/program.ts";
import { command } from "../command.ts";
import { openStage, type Stage } from "../live/stage.ts";

let stage: Stage;
const { REDIS_URL } = process.env;
beforeAll(async () => {
  stage = await openStage();
});
afterEach(() => {
  if (REDIS_URL === undefined) delete process.env.REDIS_URL;
  else process.env.REDIS_URL = REDIS_URL;
});
afterAll(() => stage?.close());

async function wordsAfter(...words: string[]): Promise<string[]> {
  const { status, stdout, stderr } = await command(["completion", "words", "--", ...words]);
  expect([status, stderr]).toEqual([0, ""]);
  return stdout.split("\n").flatMap((line) => line.split("\t")[0] || []);
}

test("every command, each with its options", async () => {
  const { commands } = makeProgram(process, () => {});
  expect(await wordsAfter("")).toEqual([...commands.map((each) => each.name()), "help"]);
  expect(await wordsAfter("help", "")).toEqual(commands.map((each) => each.name()));
  for (const each of commands)
    expect(await wordsAfter(each.name(), "--")).toEqual([...each.options.map(({ long }) => long), "--help"]);
});

describe("words by their place", () => {
  test.each<[words: string[], expected: string[]]>([
    [["l"], ["lock", "limit", "ls"]],
    [["--v"], ["--version"]],
    [["help", "st"], ["stats"]],
    [
      ["lock", ""],
      ["ls", "show", "release"],
    ],
    [
      ["queue", "p"],
      ["peek", "pause"],
    ],
    [
      ["ls", "--kind", "Ser"],
      ["Series", "SeriesGroup"],
    ],
    [
      ["replay", "--format", ""],
      ["csv", "ndjson", "log"],
    ],
    [["ls", "--config", "x"], [":files"]],
    [["replay", ""], [":files"]],
    [["queue", "--json", "d"], ["dead"]],
    [["queue", "--limit", "5", "--j"], ["--json"]],
    [["queue", "--json", "--j"], []],
    [["queue", "peek", "q", ""], []],
    [["no-command", ""], []],
    [[], []],
  ])("%j", async (words, expected) => {
    expect(await wordsAfter(...words)).toEqual(
      expected.length === 0 && words.length === 0 ? expect.any(Array) : expected,
    );
  });
});

describe("names of structures", () => {
  test("of the command's kind, on the server of the line or of REDIS_URL", async () => {
    const { url } = stage.server;
    expect(await wordsAfter("queue", "counts", "--redis", url, "")).toEqual(["sms"]);
    process.env.REDIS_URL = url;
    expect(await wordsAfter("lock", "show", "n")).toEqual(["nightly"]);
    expect(await wordsAfter("breaker", "open", "")).toEqual(["payments"]);
    // "by id" would need quotes.
    expect((await wordsAfter("stats", "")).sort()).toEqual([
      "api",
      "api:latency",
      "fleet",
      "nightly",
      "payments",
      "sms",
      "views",
    ]);
  });

  test("none without a server, and none from one that does not answer", async () => {
    delete process.env.REDIS_URL;
    expect(await wordsAfter("stats", "")).toEqual([]);
    expect(await wordsAfter("stats", "--redis", "redis://127.0.0.1:1", "")).toEqual([]);
    expect(await wordsAfter("stats", "--redis", "nonsense", "")).toEqual([]);
  });
});

test("--json prints the shell with its script, and the completions", async () => {
  const { stdout: script } = await command(["completion", "bash"]);
  expect(JSON.parse((await command(["completion", "bash", "--json"])).stdout)).toEqual({ shell: "bash", script });
  const { stdout } = await command(["completion", "words", "--json", "--", "l"]);
  const { words } = JSON.parse(stdout);
  expect(words.map(({ word }: { word: string }) => word)).toEqual(["lock", "limit", "ls"]);
});
