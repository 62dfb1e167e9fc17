// The versions on the comparison are those that oriel is measured and tested with.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../house/sources.ts";
import { textOf } from "./blocks.ts";

const lockOf = (folder: string) => JSON.parse(readFileSync(join(root, folder, "package-lock.json"), "utf8")).packages;
const locks = ["bench", "test/http"].map(lockOf);
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

const rows = [...textOf("docs/start/compare.md").matchAll(/^\| (oriel|[@\w/-]+)(?: `.*`)? (\d[\w.-]*) \|/gm)];

test("most packages are compared", () => expect(rows.length).toBeGreaterThan(15));

test.each(rows.map(([, name, stated]) => [name!, stated!]))("%s is version %s", (name, stated) => {
  const installed = locks.map((packages) => packages[`node_modules/${name}`]?.version).find(Boolean);
  expect(stated).toBe(name === "oriel" ? version : installed);
});
