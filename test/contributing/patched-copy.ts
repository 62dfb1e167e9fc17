import { execFile, execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";
import { root } from "../house/sources.ts";

const COPIED = ["assembly", "layouts", "lua", "scripts", "src", "test"];
const FILES = ["asconfig.json", "package.json", "tsconfig.json", "vitest.config.ts"];
const UNUSED = /[/\\](node_modules|data|runtimes|soak|bench)$/;

/**
 * A copy of the repository with a patch applied, for the time of one test. If a patch no longer applies: apply it to a
 * clean checkout with `git apply --reject`, repair what is left, and write the patch again from `git diff -U1`.
 */
export function patchedCopy(patch: string) {
  const folder = mkdtempSync(join(tmpdir(), "oriel-contributing-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of [...COPIED, ...FILES])
    cpSync(join(root, name), join(folder, name), {
      recursive: true,
      filter: (path) => path.startsWith(join(root, "src")) || !UNUSED.test(path),
    });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "dir");
  // A repository above the folder would make git skip paths.
  const env = { ...process.env, GIT_CEILING_DIRECTORIES: dirname(folder) };
  execFileSync("git", ["apply", join(root, patch)], { cwd: folder, env });
  return {
    folder,
    /** Runs Node in the copy. Returns what it prints. Rejects with that if it fails. */
    node: (...args: string[]) => run(folder, args),
    /** Runs one test file of the copy. */
    vitest: (...args: string[]) =>
      run(folder, ["node_modules/vitest/vitest.mjs", "run", "--maxWorkers=1", "--reporter=verbose", ...args]),
  };
}

const execute = promisify(execFile);

async function run(cwd: string, args: string[]): Promise<string> {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(VITEST|NODE_ENV|TEST$|FORCE_COLOR|ORIEL_PARTS|ORIEL_ROWS)/.test(name),
  );
  const env = {
    ...Object.fromEntries(own),
    NO_COLOR: "1",
    ORIEL_LIMITER_STEPS: "20000",
    ORIEL_LIMITER_API_STEPS: "400",
  };
  try {
    return (await execute(process.execPath, args, { cwd, env })).stdout;
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    throw new Error(`node ${args.join(" ")} failed:\n${stdout}${stderr}`);
  }
}

/** The content of each file that a patch adds, by path, and the hunks of each file that it changes. */
export function filesOf(patch: string): { added: Map<string, string>; changed: string } {
  const added = new Map<string, string>();
  let changed = "";
  for (const part of readFileSync(join(root, patch), "utf8").split(/^(?=--- (?:a\/|\/dev\/null))/m)) {
    const [, path] = /^\+\+\+ b\/(.+)$/m.exec(part) ?? [];
    if (path && part.startsWith("--- /dev/null"))
      added.set(
        path,
        part
          .split("\n")
          .slice(3)
          .map((line) => line.slice(1))
          .join("\n"),
      );
    else changed += part;
  }
  return { added, changed };
}
