import { spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { builtProgram } from "../../harness/built-program.ts";
import { until } from "../../harness/until.ts";
import { openStage, type Stage } from "../live/stage.ts";

const PTY = fileURLToPath(new URL("../live/in_terminal.py", import.meta.url));
const CLI = new URL("../../../src/command/cli.ts", import.meta.url);

/** How each shell starts without the user's files, and takes the script. */
const SHELLS = {
  bash: { args: ["--norc", "--noprofile", "-i"], load: 'eval "$(oriel completion bash)"' },
  zsh: { args: ["-f", "-i"], load: 'autoload -U compinit; compinit -u -D; eval "$(oriel completion zsh)"' },
  fish: { args: ["--no-config", "-i"], load: "oriel completion fish | source" },
};

let folder: string;
let stage: Stage;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "oriel-shell-"));
  const own = join(folder, "oriel");
  writeFileSync(own, `#!/bin/sh\nexec "${process.execPath}" "${builtProgram(CLI)}" "$@"\n`);
  chmodSync(own, 0o755);
  mkdirSync(join(folder, "here"));
  writeFileSync(join(folder, "here", "latencies.csv"), "time,value\n");
  stage = await openStage();
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await stage?.close();
});

/** An interactive shell in a terminal: types keys, and waits for what it shows. */
function open(shell: keyof typeof SHELLS) {
  const { args, load } = SHELLS[shell];
  const env = {
    ...process.env,
    PATH: `${folder}${delimiter}${process.env.PATH}`,
    HOME: folder,
    REDIS_URL: stage.server.url,
    TERM: shell === "fish" ? "xterm" : "dumb",
    PS1: "> ",
  };
  const child = spawn("python3", [PTY, "50", "200", shell, ...args], { env, cwd: join(folder, "here") });
  let shown = "";
  child.stdout.on("data", (chunk) => {
    shown += chunk;
  });
  const keys = (text: string) => child.stdin.write(`${JSON.stringify({ keys: text })}\n`);
  const shows = (pattern: RegExp) =>
    until(`${shell} shows ${pattern}`, () => pattern.test(stripVTControlCharacters(shown))).catch((error) => {
      throw new Error(`${error.message}\n${shown}`);
    });
  keys(`${load}; echo rea""dy\n`);
  return {
    shows,
    /** Types on an empty line. */
    async types(text: string, pattern: RegExp) {
      shown = "";
      keys(text);
      await shows(pattern);
      keys("\u0015"); // Ctrl-U
    },
    end: () => child.stdin.end(),
  };
}

describe.each(Object.keys(SHELLS) as (keyof typeof SHELLS)[])("%s", (shell) => {
  const isThere = spawnSync(shell, ["--version"]).status === 0;

  test.skipIf(!isThere)("completes commands, words, options, values, names and files", async () => {
    const line = open(shell);
    await line.shows(/ready/);
    await line.types("oriel dash\t", /oriel dashboard /);
    await line.types("oriel lock rel\t", /oriel lock release /);
    await line.types("oriel queue counts --sha\t", /oriel queue counts --shards /);
    await line.types("oriel ls --kind Bre\t", /oriel ls --kind Breaker /);
    await line.types("oriel queue counts s\t", /oriel queue counts sms /);
    await line.types("oriel stats api:l\t", /oriel stats api:latency /);
    await line.types("oriel replay lat\t", /oriel replay latencies\.csv /);
    await line.types("oriel st\t\t", /oriel stats /);
    line.end();
  });
});

test("bash is there", () => {
  expect(spawnSync("bash", ["--version"]).status).toBe(0);
});
