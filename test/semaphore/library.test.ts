import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { memoryStore } from "../../src/entries/index.ts";
import { LibraryClient } from "../../src/semaphore/library-client.ts";
import type { Member } from "../../src/semaphore/member.ts";
import { Round } from "../../src/semaphore/round.ts";

const folder = dirname(createRequire(import.meta.url).resolve("redis-semaphore"));
const scripts = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".js"))
  .flatMap((path) => [...readFileSync(join(folder, path), "utf8").matchAll(/createEval\)\(`([^`]+)`/g)])
  .map(([, text]) => text!);

/** The steps that the client runs for a script of the library. */
async function actionOf(sha: string): Promise<string[]> {
  const asked: string[] = [];
  const record = (name: string) => async () => {
    asked.push(name);
    return true;
  };
  const member = {
    store: memoryStore(),
    acquire: async () => {
      asked.push("acquire");
      return { isHeld: true };
    },
    extend: record("extend"),
    release: record("release"),
    subscribe: undefined,
  } satisfies Member as Member;
  for (const purpose of ["acquire", "extend", "release"] as const) {
    const client = new LibraryClient(member, "token").asRedis(purpose, new Round(1), 1000);
    await client.evalsha(sha, 1);
  }
  return [...new Set(asked)].sort();
}

test("every script of the installed redis-semaphore is known, and served by the step of its purpose", async () => {
  expect(scripts.length).toBe(7);
  for (const text of scripts) {
    const sha = createHash("sha1").update(text).digest("hex");
    const asked = await actionOf(sha);
    if (/zcard/.test(text)) expect(asked).toEqual(["acquire"]);
    else if (/pexpire/.test(text)) expect(asked).toContain("extend");
    else expect(asked).toEqual(["release"]);
  }
});

test("an unknown script is refused", async () => {
  await expect(actionOf("0".repeat(40))).rejects.toThrow("redis-semaphore has an unknown script");
});
