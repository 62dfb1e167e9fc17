// The program that a page begins with, of the pages for beginners, as far as it needs Redis and nothing else.
import { afterAll, beforeAll, expect, test } from "vitest";
import { oncePerFile } from "../harness/ends.ts";
import { startRedis } from "../harness/servers/redis-server.ts";
import { pages, programsOf } from "./blocks.ts";
import { runsAsPrinted } from "./run-program.ts";
import { removeWorkspace, workspace } from "./workspace.ts";

const OF_BEGINNERS = /^docs\/(index\.md$|(start|structures)\/)/;
const firsts = pages()
  .filter((page) => OF_BEGINNERS.test(page))
  .flatMap((page) => programsOf(page).slice(0, 1))
  .filter(({ code }) => {
    const packages = [...code.matchAll(/from "([^"]+)"/g)].map(([, name]) => name!);
    return packages.every((name) => /^(oriel|ioredis|redis|node:)/.test(name)) && !code.includes("DATABASE_URL");
  });

const redis = oncePerFile(() => startRedis({ tcp: true }));
beforeAll(() => void workspace());
afterAll(removeWorkspace);

test("most of these pages begin with a program", () => expect(firsts.length).toBeGreaterThan(10));

test.each(firsts)("$name ends without an error and prints what its page says", async (program) => {
  await runsAsPrinted(program, `${(await redis()).url}/0`);
});
