import { readFileSync } from "node:fs";
import { type Command, Option } from "commander";
import { OrielError } from "../../base/errors.ts";
import type { TlsOptions } from "../../entries/index.ts";
import { type Config, readConfig, type TlsPaths } from "./config-file.ts";
import type { ServerTyped } from "./redis-client.ts";

const USUAL_FILE = "oriel.config.json";
const needed = new WeakMap<Option, string>();

/** `--redis`, which REDIS_URL of the environment replaces: every user of a machine can read a process's arguments. */
export function redisOption(what: string): Option {
  const option = new Option("--redis <url>", `${what}; nodes of a cluster separated by commas`).env("REDIS_URL");
  return neededOption(option, "REDIS_URL of the environment or redis of a configuration file can replace it");
}

/** An option that must have a value once the configuration file was looked at. */
export function neededOption(option: Option, advice: string): Option {
  needed.set(option, advice);
  return option;
}

/** Adds `--config` to a command that uses a server. */
export function addConfigOption(command: Command): void {
  if (!optionOf(command, "redis")) return;
  const usual = isQuiet(command)
    ? ""
    : ` (default: ORIEL_CONFIG of the environment, else ./${USUAL_FILE} if it is there)`;
  command.option("--config <file>", `JSON file with redis, prefix, tls and others${usual}`);
}

/**
 * Fills in what a configuration file says, before a command runs: a flag wins over the environment, and that over the
 * file. Throws ARGUMENT.
 */
export function applyConfig(command: Command): void {
  if (!optionOf(command, "redis")) return;
  const config = configOf(command);
  if (config) fill(command, config);
  for (const option of command.options)
    if (needed.has(option) && command.getOptionValue(option.attributeName()) === undefined)
      throw new OrielError("ARGUMENT", `required option '${option.flags}' not specified; ${needed.get(option)}`);
}

/** Commands that use a server only if `--redis` or `--config` is given. */
function isQuiet(command: Command): boolean {
  return optionOf(command, "redis")?.envVar === undefined;
}

function optionOf(command: Command, name: string): Option | undefined {
  return command.options.find((option) => option.attributeName() === name);
}

function configOf(command: Command): Config | undefined {
  const path = command.getOptionValue("config") as string | undefined;
  if (path !== undefined) return readConfig(path, `--config ${path}`, false);
  if (isQuiet(command)) return undefined;
  const { ORIEL_CONFIG = "" } = process.env;
  if (ORIEL_CONFIG !== "") return readConfig(ORIEL_CONFIG, `ORIEL_CONFIG ${ORIEL_CONFIG}`, false);
  return readConfig(USUAL_FILE, `./${USUAL_FILE}`, true);
}

function fill(command: Command, { tls, token, dashboardToken, ...texts }: Config): void {
  const isTyped = (name: string) => ["cli", "env"].includes(command.getOptionValueSource(name) ?? "");
  const hasServer = isTyped("redis") || isTyped("url");
  for (const [name, text] of Object.entries(texts)) {
    const isOther = hasServer && (name === "redis" || name === "url");
    if (optionOf(command, name) && !isTyped(name) && !isOther) command.setOptionValueWithSource(name, text, "config");
  }
  // A server of the command line without TLS needs nothing of the file's TLS.
  const { redis } = command.opts<ServerTyped>();
  if (tls && (!hasServer || /^rediss:/i.test(redis ?? "")))
    command.setOptionValueWithSource("tls", tlsOf(tls), "config");
  // The token of the file is for the server of the file. No other server may see it.
  const isOwn = texts.url === undefined || texts.url === command.getOptionValue("url");
  if (isOwn) command.setOptionValueWithSource("token", token, "config");
  command.setOptionValueWithSource("dashboardToken", dashboardToken, "config");
}

function tlsOf({ servername, ...paths }: TlsPaths): TlsOptions {
  const read = ([name, path]: [string, string]) => [name, readTls(`tls.${name} of the configuration file`, path)];
  return { ...Object.fromEntries(Object.entries(paths).map(read)), ...(servername !== undefined && { servername }) };
}

/** The text of a PEM file. A key comes from a file, because every user of the machine can read a process's arguments. */
export function readTls(option: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new OrielError("ARGUMENT", `${option} cannot be read: ${(cause as Error).message}`, { cause });
  }
}
