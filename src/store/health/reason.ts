/** The reason why a server cannot be used, in words for an operator. */
export interface Reason {
  text: string;
  /** The same call may succeed later without a change of the configuration. */
  isTransient: boolean;
  /** Waiting does not help, so a call rejects at once. */
  isFinal: boolean;
  /** The server was silent until the client closed the connection. */
  isSilence: boolean;
}

type Kind = "configuration" | "unlikely" | "passing" | "silence";

/**
 * Messages of servers and runtimes, as patterns or whole texts, with their meaning. `$&` stands for the message.
 * "configuration": waiting does not help. "unlikely": waiting rarely helps, but calls wait. "passing": it may be over
 * in a moment, and so may "silence".
 */
export type Reasons = readonly (readonly [said: RegExp | string, kind: Kind, meaning: string])[];

/**
 * The answers of a provider whose quota is used up, or that asks to come back later. "Max request size exceeded" is about
 * one request, and no such answer.
 */
const OUT_OF_QUOTA =
  /^(?!.*\b(?:size|capacity)\b.*exceeded)(?:.*\bmax\b.*\bexceeded|.*\b(?:quota|limit)\b.*\b(?:exceeded|reached|exhausted)|.*\btoo many requests|.*\bthrottl(?:ed|ing)|HTTP 402\b).*/i;

/** Messages that any store may meet. */
const OF_ANY_STORE: Reasons = [
  [OUT_OF_QUOTA, "passing", "the provider takes no more calls for now ($&); wait, or raise the plan's quota"],
  [
    /^(?:NOPERM\b|ERR (?:The user executing|ACL failure)).*/,
    "configuration",
    "the user's ACL rules do not allow this ($&); give the user the rules in oriel's docs/servers.md",
  ],
  [
    /^ERR (?:unknown (?:\w+ )?command|This \w+ command is not allowed).*/i,
    "configuration",
    "the server does not know a command ($&); use Redis 7 or later, or Valkey, without renamed commands",
  ],
  [/^READONLY\b.*/, "passing", "the server is a replica, which takes no writes ($&); use the primary's address"],
  [/^BUSY\b.*/, "passing", "the server runs a script that does not end ($&); stop it with SCRIPT KILL"],
  [
    /^NOREPLICAS\b.*/,
    "passing",
    "the server has fewer replicas than it needs to take writes ($&); start them, or lower min-replicas-to-write",
  ],
  [
    /^MISCONF\b.*/,
    "passing",
    "the server cannot save its data, and takes no writes until it can ($&); check its disk and its log",
  ],
  [/^LOADING\b.*/, "passing", "the server is loading its data ($&); wait until it is ready"],
  [/^CLUSTERDOWN\b.*/, "passing", "the cluster is down ($&); check CLUSTER NODES for failed nodes and missing slots"],
  [
    /.*(?:self.signed certificate|certificate has expired|unable to verify the first certificate|altnames|unable to get (?:local )?issuer certificate).*/i,
    "configuration",
    "the server's TLS certificate is not trusted ($&)",
  ],
  [/^the token was refused.*/, "configuration", "$&"],
  [/^HTTP (?:0|3\d\d|4\d\d)\b.*/, "configuration", "the URL is not that of a Redis REST server ($&)"],
  [/.*\bENOTFOUND\b.*/, "unlikely", "the host name is unknown ($&)"],
  [/.*\bEAI_AGAIN\b.*/, "passing", "the host name could not be looked up ($&)"],
  [/.*\bETIMEDOUT\b.*/, "passing", "the address does not answer ($&)"],
  [/.*\b(?:ECONNREFUSED|ConnectionRefused)\b.*/, "passing", "nothing accepts connections at this address ($&)"],
];

const known: Reasons[] = [OF_ANY_STORE];

/** Adds reasons. Redis clients add theirs, so that a bundle without such a client does not contain them. */
export function addReasons(reasons: Reasons): void {
  if (!known.includes(reasons)) known.unshift(reasons);
}

/** The first known reason in an error, its causes, or its `errors`. */
export function reasonOf(error: unknown): Reason | undefined {
  let next: unknown = error;
  for (let depth = 0; depth < 5 && next instanceof Error; depth++) {
    const { code, errors, message } = next as { code?: unknown; errors?: unknown; message: string };
    const all = typeof code === "string" && !message.includes(code) ? `${message} ${code}`.trim() : message;
    for (const [said, kind, meaning] of known.flat()) {
      const found = typeof said === "string" ? said === message && [message] : said.exec(all);
      if (!found) continue;
      const text = meaning.replace("$&", () => found[0]!.trim().split(". ")[0]!.slice(0, 200));
      const isSilence = kind === "silence";
      return { text, isTransient: isSilence || kind === "passing", isFinal: kind === "configuration", isSilence };
    }
    next = next.cause ?? (Array.isArray(errors) ? errors[0] : undefined);
  }
  return undefined;
}

/** A text, and in brackets what the innermost cause of an error says, unless the text says it. */
export function withLeaf(text: string, error: unknown): string {
  let leaf = error;
  for (let depth = 0; depth < 5 && leaf instanceof Error; depth++) {
    const { errors } = leaf as { errors?: unknown };
    const inner = leaf.cause ?? (Array.isArray(errors) ? errors[0] : undefined);
    if (!(inner instanceof Error)) break;
    leaf = inner;
  }
  const said = leaf instanceof Error ? leaf.message.split("\n")[0]!.slice(0, 200) : "";
  return said === "" || text.includes(said) ? text : `${text} (${said})`;
}

/** Whether a server's answer says that a quota is used up, or to come back later. Nothing was run. */
export function isOutOfQuota(error: unknown): boolean {
  return error instanceof Error && OUT_OF_QUOTA.test(error.message);
}

/** Whether waiting does not help. */
export function isFinal(error: unknown): boolean {
  return reasonOf(error)?.isFinal === true;
}
