// The process id of the running fleet, for `npm stop`.
import { readFileSync, rmSync, writeFileSync } from "node:fs";

const file = new URL("fleet.pid", import.meta.url);

export function remember(pid: number): void {
  writeFileSync(file, String(pid));
}

export function forget(): void {
  rmSync(file, { force: true });
}

/** Undefined if no fleet runs. */
export function remembered(): number | undefined {
  try {
    return Number(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}
