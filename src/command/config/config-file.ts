import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { checkKnown, OrielError } from "../../base/errors.ts";
import { checkRedis } from "./redis-client.ts";

const TEXTS = ["redis", "prefix", "url", "token", "sql", "dashboardToken"] as const;
const TLS = ["ca", "cert", "key", "servername"] as const;

/** The content of a configuration file. Many of the values are secrets, so no error prints one. */
export type Config = { [key in (typeof TEXTS)[number]]?: string } & { tls?: TlsPaths };

/** The paths are absolute. */
export type TlsPaths = { [key in (typeof TLS)[number]]?: string };

/** Reads a file. `source` names it in errors. `isOptional`: undefined if it does not exist. Throws ARGUMENT. */
export function readConfig(path: string, source: string, isOptional: boolean): Config | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (isOptional && code === "ENOENT") return undefined;
    throw new OrielError("ARGUMENT", `${source} cannot be read: ${message}`, { cause });
  }
  return checkConfig(parsed(text, source), source, dirname(resolve(path)));
}

/** The parser's own message quotes the file, so only the line is named. */
function parsed(text: string, source: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new OrielError("ARGUMENT", `${source} is no JSON: line ${faultyLineOf(text)}`);
  }
}

/** The first line after which the text is wrong, whatever follows. */
export function faultyLineOf(text: string): number {
  const lines = text.split(/(?<=\n)/);
  const isWrong = (_: string, i: number) => {
    const part = lines.slice(0, i + 1).join("");
    try {
      JSON.parse(part);
      return false;
    } catch (error) {
      const { message } = error as Error;
      const position = /position (\d+)/.exec(message)?.[1];
      return !/end of JSON|Unterminated/.test(message) && (position === undefined || Number(position) < part.length);
    }
  };
  const line = lines.findIndex(isWrong);
  return line === -1 ? lines.length : line + 1;
}

function checkConfig(config: unknown, source: string, folder: string): Config {
  checkObject(config, source);
  checkKnown(config, [...TEXTS, "tls"], source);
  for (const key of TEXTS) checkText(config[key], `${key} in ${source}`);
  const { redis, url, tls } = config as Config;
  if (redis !== undefined) checkRedis(redis, `redis in ${source}`);
  if (redis !== undefined && url !== undefined)
    throw new OrielError("ARGUMENT", `${source} has redis and url; url names a REST server, and one of them is enough`);
  if (tls === undefined) return config;
  checkObject(tls, `tls in ${source}`);
  checkKnown(tls, TLS, `tls in ${source}`);
  for (const key of TLS) checkText(tls[key], `tls.${key} in ${source}`);
  const { servername, ...files } = tls as TlsPaths;
  const paths = Object.fromEntries(Object.entries(files).map(([key, path]) => [key, resolve(folder, path)]));
  return { ...config, tls: { ...paths, ...(servername !== undefined && { servername }) } };
}

function checkObject(value: unknown, name: string): asserts value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new OrielError("ARGUMENT", `${name} is ${kindOf(value)}; it must be an object`);
}

function checkText(value: unknown, name: string): void {
  if (value === undefined || (typeof value === "string" && value !== "")) return;
  throw new OrielError("ARGUMENT", `${name} is ${kindOf(value)}; it must be a text`);
}

function kindOf(value: unknown): string {
  if (value === "") return "empty";
  if (value === null || Array.isArray(value)) return value === null ? "null" : "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
