import { readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Facts, Measured } from "../runner/report.ts";
import { htmlReport } from "./html.ts";

/** The versions of the packages that oriel is measured against, as they are installed. */
export function rivalVersions(): Facts {
  const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
    dependencies: Record<string, string>;
  };
  const modules = fileURLToPath(new URL("../node_modules/", import.meta.url));
  const installed = new Set(readdirSync(modules, { recursive: false, encoding: "utf8" }));
  return Object.fromEntries(
    Object.keys(manifest.dependencies).map((name) => {
      if (!installed.has(name.split("/")[0]!)) return [name, "not installed"];
      const { version } = JSON.parse(readFileSync(`${modules}${name}/package.json`, "utf8")) as { version: string };
      return [name, version.replace(/^v/, "")];
    }),
  );
}

/** Writes the report whole, or leaves the file that is there. */
export function writeReport(file: string, run: Measured): void {
  writeFileSync(`${file}.tmp`, htmlReport(run));
  renameSync(`${file}.tmp`, file);
}
