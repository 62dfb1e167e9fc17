import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeProgram } from "../../src/command/program.ts";
import { safeText } from "../../src/command/text/safe-text.ts";
import { DelayQueue, Lock } from "../../src/entries/index.ts";
import { command, pageOf, useDeadlineOfPrograms } from "./command.ts";
import { openStage, type Stage } from "./live/stage.ts";

/** Sets a title, colours, deletes the screen, and turns the order of letters around. */
const H = "\u001b]0;x\u0007\u001b[2J\u009b31m\u202e\u2066\u200f\u061c\u2028\u007fz";
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const HARMFUL = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

/** The sequences with which watch draws in a terminal. No other may be there. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it reads a terminal's sequences
const DRAWING = /\x1b\[(?:\?1049[hl]|\?25[hl]|[HKJ])|\r(?=\n)/g;

let stage: Stage;
let folder: string;
/** Answers each request with a hostile error. */
let liar: Server;
let liarUrl: string;

useDeadlineOfPrograms();
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "oriel-hostile-"));
  writeFileSync(join(folder, "data.csv"), `time,value,note${H}\n1394163660,1,${H}\n1394163661,${H},x\n${H},2,x\n`);
  writeFileSync(join(folder, `name${H}.ndjson`), `{"time":1394163660000,"value":1,"key":${JSON.stringify(H)}}\n${H}\n`);
  writeFileSync(join(folder, "config.json"), JSON.stringify({ [H]: H }));
  stage = await openStage();
  const queue = new DelayQueue(stage.store, H, { attempts: 1 });
  await queue.add({ text: H, [H]: 1 }, { id: `dead${H}` });
  for (const claimed of await queue.claim({ limit: 1 })) await queue.nack(claimed, { error: new Error(H) });
  await queue.add(H, { id: `due${H}` });
  await new Lock(stage.store, H).tryLock({ lease: "60s" });
  const policies = [{ name: H, kindName: "fixed-window", limit: 5, spanMs: 60_000 }];
  const settings: Record<string, object> = {
    Series: { values: H, [H]: H },
    Lock: {},
    DelayQueue: { shards: 1 },
    Breaker: { span: H },
    Limiter: { policies },
    Counters: { dimensions: [H], shards: 2 },
    FleetMetrics: { interval: H },
    Semaphore: { [H]: [H] },
  };
  for (const [kind, shared] of Object.entries(settings)) await stage.announce(kind, H, shared, `process${H}`);
  await stage.announce("DelayQueue", H, { shards: 1, [H]: H }, `other${H}`);
  const raw = new Redis(stage.server.url);
  await raw.xadd(H, "*", "a", H, H, H);
  raw.disconnect();
  liar = createServer((socket) => {
    socket.on("data", () => socket.write(`-ERR ${H}\r\n`)).on("error", () => {});
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => liar.once("listening", resolve));
  liarUrl = `redis://127.0.0.1:${(liar.address() as AddressInfo).port}`;
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  liar?.close();
  await stage?.close();
});

const file = (name: string) => join(folder, name);
const drivers = fileURLToPath(new URL("../drain", import.meta.url));
const sql = () => [
  "--sql",
  `sqlite:${file("counts.db")}`,
  "--drivers",
  drivers,
  "--dimensions",
  `a,${H}`,
  "--shards",
  "2",
];

/** Arguments of each command, and of each word that its first argument may be. */
const ROWS: Record<string, () => string[][]> = {
  replay: () => [
    ["replay", file("data.csv"), "--key", `note${H}`],
    ["replay", file(`name${H}.ndjson`), "--key", "key"],
    ["replay", file(`none${H}.csv`)],
    ["replay", file("data.csv"), "--value", H],
  ],
  demo: () => [["demo", "--seconds", H]],
  count: () => [
    ["count", "--once", "--stream", H, "--group", H, "--dimensions", `a,${H}`, "--name", "c", "--shards", "1"],
  ],
  "counters doctor": () => [["counters", "doctor", H, ...sql()]],
  "counters rebase": () => [["counters", "rebase", H, ...sql()]],
  "queue counts": () => [["queue", "counts", H]],
  "queue peek": () => [["queue", "peek", H]],
  "queue dead": () => [["queue", "dead", H]],
  "queue redrive": () => [["queue", "redrive", H, "--ids", `${H},`]],
  "queue pause": () => [["queue", "pause", H]],
  "queue resume": () => [["queue", "resume", H]],
  "lock ls": () => [["lock", "ls"]],
  "lock show": () => [["lock", "show", H]],
  "lock release": () => [["lock", "release", H, "--fence", H]],
  "limit peek": () => [
    ["limit", "peek", H, H, "--cost", "9"],
    ["limit", "peek", H, H, "--policies", H],
  ],
  "limit reset": () => [["limit", "reset", H, H]],
  "limit block": () => [
    ["limit", "block", H, H, "1m"],
    ["limit", "block", H, H, H],
  ],
  "breaker ls": () => [["breaker", "ls"]],
  "breaker open": () => [["breaker", "open", H]],
  "breaker reset": () => [["breaker", "reset", `${H}x`]],
  "breaker close": () => [["breaker", "close", `${H}x`]],
  ls: () => [["ls"], ["ls", "--kind", H]],
  stats: () =>
    ["Series", "DelayQueue", "Lock", "Counters", "FleetMetrics", "Limiter", "Breaker", "Semaphore"]
      .map((kind) => ["stats", H, "--kind", kind])
      .concat([["stats", `${H}x`]]),
  watch: () => [
    ["watch", H, "--kind", "DelayQueue", "--count", "1"],
    ["watch", `${H}x`, "--count", "1"],
  ],
  top: () => [["top", "--once"]],
  dashboard: () => [
    ["dashboard", "--port", H],
    ["dashboard", "--host", H],
    ["dashboard", "--allow-host", H],
  ],
  doctor: () => [
    ["doctor", "--deadline", "1m"],
    ["doctor", "--tls-ca", H],
  ],
  "completion bash": () => [["completion", "bash"]],
  "completion zsh": () => [["completion", "zsh"]],
  "completion fish": () => [["completion", "fish"]],
  "completion words": () => [
    ["completion", "words", "st"],
    ["completion", "words", "--", "stats", "--redis", stage.server.url, ""],
  ],
  version: () => [["version", H]],
};

/** The commands of the program, each with the words of its first argument. */
const listed = makeProgram(process, () => {}).commands.flatMap((each) => {
  const words = each.registeredArguments[0]?.argChoices;
  return words ? words.map((word) => `${each.name()} ${word}`) : [each.name()];
});

test("each command has a row", () => {
  expect(Object.keys(ROWS).sort()).toEqual([...listed].sort());
});

describe.each(listed)("oriel %s", (name) => {
  const options = new Set(
    makeProgram(process, () => {})
      .commands.find((each) => each.name() === name.split(" ")[0])!
      .options.map((option) => option.long),
  );

  test("prints no harmful character, whatever it meets", async () => {
    const isServed = options.has("--redis") && name !== "replay" && name !== "demo";
    const own = ROWS[name]!();
    const [first = []] = own;
    const runs = [
      ...own.map((args) => (isServed ? [...args, "--redis", stage.server.url] : args)),
      ...(isServed ? [[...first, "--redis", liarUrl]] : []),
      [...first, `--${H}`],
      ...(options.has("--config") ? [[...first, "--config", file("config.json")]] : []),
    ];
    const check = async (args: string[], more: string[], terminal: object) => {
      const { status, stdout: printed, stderr } = await command([...args, ...more], "", terminal);
      const stdout = name === "watch" && "isTTY" in terminal ? printed.replaceAll(DRAWING, "") : printed;
      const what = JSON.stringify([...args, ...more]);
      expect(stdout + stderr, what).not.toBe("");
      // A tab stands between a word and what it is.
      expect(name === "completion words" ? stdout.replaceAll("\t", " ") : stdout, what).not.toMatch(HARMFUL);
      expect(stderr, what).not.toMatch(HARMFUL);
      if (more.length === 0 || status !== 2 || name === "doctor") return;
      const errors = stderr
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
      expect(errors.at(-1), what).toEqual({
        ...{ code: expect.any(String), message: expect.any(String) },
        ...(errors.at(-1).help === undefined ? {} : { help: pageOf(errors.at(-1).code) }),
      });
    };
    const formats = options.has("--json") ? [[], ["--json"]] : [[]];
    for (const args of runs.filter((args) => !args.includes(liarUrl)))
      for (const more of formats)
        for (const terminal of [{}, { isTTY: true, columns: 40 }]) await check(args, more, terminal);
    // Each of these waits for its deadline, so they wait together.
    const lied = runs.filter((args) => args.includes(liarUrl));
    await Promise.all(lied.flatMap((args) => formats.map((more) => check(args, more, {}))));
  });
});

test.each([
  ["\u001b[31m\u0000\n", "\\x1b[31m\\x00\\x0a"],
  ["\u009b\u007f\u0085", "\\x9b\\x7f\\x85"],
  ["a\u202eb\u2066c\u2069\u200e\u2028", "a\\u202eb\\u2066c\\u2069\\u200e\\u2028"],
  ["\ud800x\udfff", "\\ud800x\\udfff"],
  ["𝄞 ☃ é\u200d", "𝄞 ☃ é\u200d"],
])("safeText of %j", (text, expected) => {
  expect(safeText(text)).toBe(expected);
});

test("a cut never leaves half a character", () => {
  expect(safeText("𝄞𝄞𝄞", 4)).toBe("𝄞…");
  expect(safeText("a𝄞𝄞", 4)).toBe("a𝄞…");
});
