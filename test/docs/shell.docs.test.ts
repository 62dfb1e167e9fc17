// Every `sh` block of README.md and docs/ is run by bash. test/docs/shell/prelude.sh says what its programs are.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { builtProgram } from "../harness/built-program.ts";
import { oncePerFile } from "../harness/ends.ts";
import { type PostgresServer, startPostgres } from "../harness/servers/postgres.ts";
import { freePort, startRedis } from "../harness/servers/redis-server.ts";
import { watch } from "../harness/watchdog.ts";
import { root } from "../house/sources.ts";
import { type Block, blocksOf, chosenPages } from "./blocks.ts";
import { knownNames, onPath, programFolder } from "./shell/programs.ts";
import { seed } from "./shell/seed.ts";
import { removeWorkspace, workspace } from "./workspace.ts";

const CLI = new URL("../../src/command/cli.ts", import.meta.url);
const PRELUDE = join(root, "test/docs/shell/prelude.sh");
/** Ends when the server of a block accepts connections, or after 30 s. */
const LISTENS = `for i in {1..600}; do (exec 3<>"/dev/tcp/127.0.0.1/$PORT") 2>/dev/null && break; sleep 0.05; done`;
/** Files that blocks read. */
const FILES = {
  "access.log": '192.0.2.1 - - [01/Jan/2026:00:00:01 +0000] "GET / HTTP/1.1" 200 512\n',
  "events.ndjson": '{"ts":1767225601000,"ms":10}\n{"ts":1767225602000,"ms":20}\n',
  "main.ts": "",
  "package.json": '{ "type": "module" }',
};

const blocks = chosenPages().flatMap(shellBlocks);
const redis = oncePerFile(() => startRedis({ tcp: true }));
const postgres = oncePerFile<PostgresServer>(() => startPostgres());
/** Not beneath node_modules, where Deno runs no TypeScript. */
const folder = mkdtempSync(join(tmpdir(), "oriel-shell-"));
let modules: string;
let bin: string;

beforeAll(async () => {
  modules = join(workspace(), "node_modules");
  const programs = programFolder(folder);
  bin = programs.bin;
  if (programs.missing.length > 0) console.warn(`skipped: ${programs.missing.join(", ")}: not on this machine`);
  await seed((await redis()).url, (await postgres()).url);
});
afterAll(() => {
  removeWorkspace();
  rmSync(folder, { recursive: true });
});

interface Runnable extends Pick<Block, "code" | "flags"> {
  readonly name: string;
  /** The program above it that listens on PORT. */
  readonly server?: string | undefined;
}

interface ShellBlock extends Runnable {
  /** The block below it, which shows what it prints. */
  readonly shown: Block | undefined;
}

function shellBlocks(page: string): ShellBlock[] {
  const all = blocksOf(page);
  return all.flatMap((block, i) => {
    if (block.language !== "sh") return [];
    const next = all[i + 1];
    const isShown = next?.section === block.section && ["text", "http", "json"].includes(next.language);
    const server = all
      .slice(0, i)
      .reverse()
      .find(({ flags }) => flags.includes("serves"))?.code;
    return [{ ...block, name: `${page}:${block.line}`, shown: isShown ? next : undefined, server }];
  });
}

describe.runIf(blocks.length > 0)("bash runs a block and prints what its page says", () => {
  test.concurrent.each(blocks)("$name", async (block) => {
    const { status, printed } = await ended(block);
    expect(status, printed).toBe(0);
    if (!block.shown) return;
    // Pages leave out lines, such as header fields.
    let rest = withoutMeasured(printed);
    for (const line of withoutMeasured(block.shown.code).split("\n")) {
      expect(rest).toContain(line);
      rest = rest.slice(rest.indexOf(line) + line.length);
    }
  });
});

/** Blocks that ask a server. Each has a database of its own, as pages give their limiters the same name. */
const asking = blocks.filter(({ code }) => code.includes("curl"));

/** Blocks with an error that a page might have. */
const WRONG = [
  "oriel lss",
  "oriel ls --spann 1m",
  "oriel lss | cat",
  "npm run nothing",
  "npm run bench -- --only nothing",
  "npm run bench -- --smal",
  "npm install oriel-nothing && true",
  "npx oriel top --sort",
  "npx vite",
  "git clone https://example.com/other && cd other",
  "docker ps",
  "node missing.js",
].map((code, i) => ({ name: `wrong ${i}`, code, flags: [] }));

test.concurrent.each(WRONG)("it refuses: $code", async (block) => {
  expect((await ended(block)).status).not.toBe(0);
});

async function ended({ name, code, flags, server = "" }: Runnable) {
  const own = join(folder, name.replace(/\W/g, "-"));
  mkdirSync(own);
  symlinkSync(modules, join(own, "node_modules"), "junction");
  for (const [file, text] of Object.entries({ ...FILES, "server.js": server, "server.mjs": server }))
    writeFileSync(join(own, file), text);
  for (const file of ["read_series.py", "read_blocks.py"]) copyFileSync(join(root, "lua", file), join(own, file));
  const places = await placesOf();
  const isStarted = code.includes("curl") && !code.includes("node server.");
  const database = asking.findIndex((each) => each.name === name) + 1;
  const ports = Object.keys(places).filter((place) => place.startsWith("localhost:") && code.includes(place));
  const lines = [`source "${PRELUDE}"`, ...(isStarted ? ["node server.js &", LISTENS] : []), withPlaces(code, places)];
  const child = spawn(onPath("bash") ?? "bash", ["-c", lines.join("\n")], {
    env: {
      ...knownNames(),
      ...{ PATH: bin, FOLDER: own, ORIEL: builtProgram(CLI), NO_COLOR: "1" },
      ...{ FAILS: flags.includes("fails") ? "yes" : "" },
      ...{ PORT: portIn(places["localhost:3000"]!), REDIS_URL: `${(await redis()).url}/${database}` },
      PORTS: ports.map((place) => portIn(places[place]!)).join(" "),
    },
    detached: true, // a group, which is killed with all that the block has started
    stdio: ["ignore", "pipe", "pipe"],
  });
  watch(child);
  let printed = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      printed += chunk;
    });
  const closed = once(child, "close");
  const [status] = await once(child, "exit");
  try {
    process.kill(-child.pid!, "SIGKILL");
  } catch {} // none is left
  await closed;
  return { status, printed: asShown(printed, places) };
}

/** The addresses that pages have, and those of the servers of this test. */
async function placesOf(): Promise<Record<string, string>> {
  const [{ url, port }, { url: sql }, own, second] = [
    await redis(),
    await postgres(),
    await freePort(),
    await freePort(),
  ];
  return {
    "redis://127.0.0.1:6379": url,
    "redis://host": url,
    "127.0.0.1:6379": `127.0.0.1:${port}`,
    "postgres://host/db": sql,
    "-p 6379": `-p ${port}`,
    "localhost:3000": `localhost:${own}`,
    "127.0.0.1:3000": `127.0.0.1:${own}`,
    "PORT=3000": `PORT=${own}`,
    "localhost:3001": `localhost:${second}`,
    "PORT=3001": `PORT=${second}`,
  };
}

function portIn(address: string): string {
  return address.split(":")[1]!;
}

function withPlaces(code: string, places: Record<string, string>): string {
  return Object.entries(places).reduce((text, [shown, real]) => text.replaceAll(shown, real), code);
}

/** Numbers with a fraction, and seconds that are left of a window, are measured: other ones are as good. */
function withoutMeasured(text: string): string {
  return text.replace(/\d+\.\d+(?= ms)|(?<=;t=)\d+/g, "?");
}

/** The output of a block, with the addresses of the pages, and one version of the server. */
function asShown(printed: string, places: Record<string, string>): string {
  return Object.entries(places)
    .reduce((text, [shown, real]) => text.replaceAll(real, shown), printed)
    .replace(/\b(Redis|Valkey) [\d.]+\b/g, "Redis 7.0.15")
    .replaceAll("\r\n", "\n");
}
