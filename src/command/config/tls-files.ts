import { readFileSync } from "node:fs";
import { OrielError } from "../../base/errors.ts";

/** The text of a PEM file. A key comes from a file, because every user of the machine can read a process's arguments. */
export function readTls(option: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new OrielError("ARGUMENT", `${option} cannot be read: ${(cause as Error).message}`, { cause });
  }
}
