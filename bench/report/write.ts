import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { findPython } from "../../scripts/find-programs.mjs";
import type { Facts, Measured } from "../runner/report.ts";
import { htmlReport } from "./html.ts";
import { runLines } from "./lines.ts";

/** The versions of the packages that oriel is measured against, as they are installed. */
export function rivalVersions(): Facts {
  const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
    dependencies: Record<string, string>;
  };
  const modules = fileURLToPath(new URL("../node_modules/", import.meta.url));
  const installed = new Set(readdirSync(modules, { recursive: false, encoding: "utf8" }));
  const packages = Object.fromEntries(
    Object.keys(manifest.dependencies).map((name) => {
      if (!installed.has(name.split("/")[0]!)) return [name, "not installed"];
      const { version } = JSON.parse(readFileSync(`${modules}${name}/package.json`, "utf8")) as { version: string };
      return [name, version.replace(/^v/, "")];
    }),
  );
  return { ...packages, ...pythonVersions() };
}

/** The versions of the Python packages, of which the machine may lack some. */
function pythonVersions(): Facts {
  const versions = ["numpy", "pandas", "bottleneck"].flatMap((name) => {
    const python = findPython(`numpy, ${name}`);
    const program = `import ${name}; print(${name}.__version__)`;
    return python ? [[`${name} (Python)`, spawnSync(python, ["-c", program], { encoding: "utf8" }).stdout.trim()]] : [];
  });
  return Object.fromEntries(versions);
}

/** Writes the report whole, or leaves the file that is there: a page, or JSON lines if the file's name ends so. */
export function writeReport(file: string, run: Measured): void {
  writeFileSync(`${file}.tmp`, file.endsWith(".jsonl") ? runLines(run) : htmlReport(run));
  renameSync(`${file}.tmp`, file);
}
