import { randomU32 } from "../../base/random.ts";
import { version } from "../../generated/version.ts";

/** The facts that a process announces about itself. */
export interface ProcessFacts {
  /** "" if it is unknown. */
  host: string;
  /** Undefined if the runtime has no processes. */
  pid: number | undefined;
  /** For example "Node.js/24", "Cloudflare-Workers" or "browser". */
  runtime: string;
  /** Version of oriel. */
  version: string;
  /** Start of the process or page, in ms since 1970. */
  startedMs: number;
}

interface ProcessLike {
  pid?: number;
  version?: string;
  getBuiltinModule?(name: "node:os"): { hostname(): string };
}

// Its properties are read when they are needed: Node loads `performance` and `navigator` at the first access.
const world = globalThis as {
  process?: ProcessLike;
  navigator?: { userAgent?: string };
  performance?: { timeOrigin?: number };
  Deno?: object;
};

let facts: ProcessFacts | undefined;
let id = "";

/** Facts about this process. They are read at the first call. */
export function thisProcess(): ProcessFacts {
  const agent = world.navigator?.userAgent ?? `Node.js/${world.process?.version}`;
  facts ??= {
    host: hostName(),
    pid: world.process?.pid,
    runtime: agent.startsWith("Mozilla") ? "browser" : agent,
    version,
    startedMs: Math.floor(world.performance?.timeOrigin || Date.now()),
  };
  return facts;
}

/** This process's id: host or runtime, pid and a random number, as in "web-1:4242:9f3c21aa". */
export function processId(): string {
  const { host, pid = "", runtime } = thisProcess();
  id ||= `${host || runtime}:${pid}:${randomU32().toString(16)}`;
  return id;
}

/** Without an import, which some bundlers refuse. Deno would ask its user for a permission. */
function hostName(): string {
  try {
    return world.Deno ? "" : world.process!.getBuiltinModule!("node:os").hostname();
  } catch {
    return "";
  }
}
