import { readFileSync } from "node:fs";
import { RespConnection } from "../../harness/network/resp-connection.ts";

const docs = readFileSync("docs/servers.md", "utf8");

/** The lines of docs/servers.md, in their order. */
const [scripts, functions, cluster, http] = [...docs.matchAll(/ACL SETUSER app[\s\S]*?(?=```)/g)].map(([text]) =>
  text.trim().split(/\s+/).slice(3),
);
/** The rules of a user, for each form of a store. */
export const RULES = { scripts: scripts!, functions: functions!, cluster: cluster!, http: http! };

/** The words of a line that are no rules. */
export const LOGIN = ["on", ">password"];

/** Makes this user with these rules only. */
export async function setUser(url: string, name: string, rules: readonly string[]): Promise<void> {
  const raw = new RespConnection(url);
  const [reply] = await raw.send([["ACL", "SETUSER", name, "reset", ...rules]]);
  raw.close();
  if (JSON.stringify(reply) !== '{"status":"OK"}') throw new Error(JSON.stringify(reply));
}

export function urlOf(url: string, user: string): string {
  return url.replace("//", `//${user}:password@`);
}
