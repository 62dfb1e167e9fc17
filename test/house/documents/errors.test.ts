import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { expect, test } from "vitest";
import { OrielError } from "../../../src/base/errors.ts";
import { CLIENT_REASONS } from "../../../src/store/health/client-reasons.ts";
import { addReasons, reasonOf } from "../../../src/store/health/reason.ts";
import { errorOfReply, OUT_OF_MEMORY } from "../../../src/store/refusal.ts";
import { startRedis } from "../../harness/servers/redis-server.ts";
import { root } from "../sources.ts";
import { EXAMPLES } from "./error-examples.ts";

const text = readFileSync(join(root, "docs", "errors.md"), "utf8");
const rows = text
  .slice(text.indexOf("## Errors of a server"))
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line) => line.split("|").map((cell) => cell.trim().replaceAll("`", "")));
/** The text below each heading that is a code. */
const sections = new Map(
  text
    .split(/^## /m)
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf("\n")), section] as const)
    .filter(([heading]) => /^[A-Z_]+$/.test(heading)),
);

test("docs/errors.md has a section for every code, with the same parts", () => {
  const declared = readFileSync(join(root, "src", "base", "errors.ts"), "utf8").match(
    /type OrielErrorCode =([^;]+);/,
  )![1]!;
  const codes = declared.match(/[A-Z_]+/g)!;
  expect(codes.length).toBeGreaterThan(10);
  expect([...sections.keys()]).toEqual(codes);
  for (const [code, section] of sections)
    for (const part of ["**Causes**", "**What to do**", "**Retry**", "```text"])
      expect(section, `${code} ${part}`).toContain(part);
});

test("each section shows a message that oriel writes", async () => {
  const redis = await startRedis({ tcp: true });
  try {
    for (const [code, example] of Object.entries(EXAMPLES)) {
      const error = await Promise.resolve(redis.url)
        .then(example)
        .catch((each: unknown) => each);
      expect(error, code).toMatchObject({ name: "OrielError", code });
      const message = (error as OrielError).message
        .replace(`:${redis.port})`, ":6379)")
        .replace(/ \d+ ms$/, " 30000 ms");
      expect(sections.get(code), code).toContain(`\`\`\`text\n${message}\n\`\`\``);
    }
  } finally {
    await redis.stop();
  }
});

test("an error names its section", () => {
  const { repository } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const pages = `${repository.url.replace(/^git\+|\.git$/g, "")}/blob/main/docs/errors.md`;
  // The anchor that GitHub makes from the heading.
  for (const code of Object.keys(EXAMPLES) as (keyof typeof EXAMPLES)[])
    expect(new OrielError(code, "no").help).toBe(`${pages}#${code.toLowerCase()}`);
});

test("Node prints the address of an uncaught error", () => {
  const program = `
    import { OrielError } from "./src/base/errors.ts";
    throw new OrielError("LATE", "too old");
  `;
  const args = ["--import", "tsx", "--input-type=module", "-e", program];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" });
  expect(status).toBe(1);
  expect(stderr).toContain(`help: '${new OrielError("LATE", "too old").help}'`);
});

test("consoles and loggers print the address, and the message is without it", () => {
  const error = new OrielError("LATE", "too old");
  expect(inspect(error)).toContain(error.help);
  expect(JSON.stringify({ ...error, message: error.message })).toContain(`"help":"${error.help}"`);
  expect(error.message).toBe("too old");
});

test("docs/errors.md has the message and the advice of every error that a server restricts calls with", () => {
  const words = rows.map(([, word]) => word);
  expect(words).toEqual([
    ...["NOPERM", "ERR unknown command", "ERR unknown command 'FCALL'", "CROSSSLOT", "MOVED", "READONLY"],
    ...["MASTERDOWN", "NOREPLICAS", "CLUSTERDOWN", "LOADING", "BUSY", "MISCONF", "OOM"],
  ]);
  addReasons(CLIENT_REASONS);
  for (const [, word, meaning, cure, transient] of rows.filter(([, each]) => each !== "OOM")) {
    const reason = reasonOf(new Error(`${word} and more`))!;
    expect(reason.text).toBe(`${meaning} (${word} and more); ${cure}`);
    expect(reason.isTransient ? "yes" : "no", word).toBe(transient);
  }
  const [, word, meaning, cure] = rows.at(-1)!;
  expect(OUT_OF_MEMORY).toBe(`${meaning}; ${cure}`);
  expect(errorOfReply(["k"], "ERROR", `${word} command not allowed`, false)).toMatchObject({
    code: "OVERLOADED",
    message: OUT_OF_MEMORY,
    applied: "no",
  });
});
