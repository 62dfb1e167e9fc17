import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { watch } from "../watchdog.ts";

/** A database server of a test's own: an empty one in a folder of its own, on a port of loopback. */
export interface DatabaseServer {
  readonly port: number;
  /** SIGKILL to all of its processes: what was committed stays in its folder. */
  kill9(): Promise<void>;
  /** Starts it again, with what it had, on the same port. */
  restart(): Promise<void>;
  /** Kills it and removes its folder. */
  stop(): Promise<void>;
}

export interface ServerUser {
  uid?: number;
  gid?: number;
}

/** Database servers refuse root, so as root they run as nobody. */
export function serverUser(): ServerUser {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string) => Number(execFileSync("id", [flag, "nobody"], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}

/** A temp folder that the user owns. */
export function serverFolder(prefix: string, { uid, gid }: ServerUser) {
  const folder = mkdtempSync(join(tmpdir(), prefix));
  chmodSync(folder, 0o700);
  if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid);
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/**
 * Runs a program to its end; rejects with what it said where it failed. Not with spawnSync: for the seconds that a database
 * takes to be made, connections of the same process would stand still and run into their time-outs.
 */
export async function runToEnd(
  command: string,
  args: string[],
  { input, ...options }: ServerUser & { env: NodeJS.ProcessEnv; input?: string },
): Promise<void> {
  const child = spawn(command, args, { ...options, stdio: "pipe" });
  watch(child);
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      said += chunk;
    });
  child.stdin.on("error", () => {}); // it ended before it had read all: its exit says why
  child.stdin.end(input);
  const [status, signal] = await once(child, "close");
  if (status !== 0) throw new Error(`${command} ended with ${status ?? signal}: ${said}`);
}
