import { Option } from "commander";

/** `--redis`, which REDIS_URL of the environment replaces: every user of a machine can read a process's arguments. */
export function redisOption(what: string): Option {
  return new Option("--redis <url>", `${what}; nodes of a cluster separated by commas`)
    .env("REDIS_URL")
    .makeOptionMandatory();
}
