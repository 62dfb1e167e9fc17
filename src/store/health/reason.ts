/** Why a server cannot be used, in words for whoever has to mend it. */
export interface Reason {
  text: string;
  /** The same call may succeed later without a change of the configuration. */
  isTransient: boolean;
  /** Nothing that a call waits for will change it: it rejects at once. */
  isFinal: boolean;
}

type Kind = "configuration" | "unlikely" | "passing";

/**
 * What a server or runtime says, as a pattern or in whole, and what it means; `$&` is what was said. "configuration": no
 * waiting helps. "unlikely": no waiting is known to help, but it is waited for. "passing": it may be over in a moment.
 */
export type Reasons = readonly (readonly [said: RegExp | string, kind: Kind, meaning: string])[];

/** What any store may hear. */
const OF_ANY_STORE: Reasons = [
  [
    /^(?:NOPERM\b|ERR (?:The user executing|ACL failure)).*/,
    "configuration",
    "the user's ACL rules do not allow this ($&)",
  ],
  [/^ERR unknown command.*/i, "configuration", "the server does not know a command; Redis 7 or later is needed ($&)"],
  [/^READONLY\b.*/, "passing", "the server is a replica, which takes no writes ($&)"],
  [/^BUSY\b.*/, "passing", "the server runs a script that does not end ($&)"],
  [/^NOREPLICAS\b.*/, "passing", "the server has fewer replicas than it needs to take writes ($&)"],
  [/^MISCONF\b.*/, "passing", "the server cannot save its data, and takes no writes until it can ($&)"],
  [/^LOADING\b.*/, "passing", "the server is loading its data ($&)"],
  [/^MASTERDOWN\b.*/, "passing", "the server is a replica without its primary ($&)"],
  [/^CLUSTERDOWN\b.*/, "passing", "the cluster is down ($&)"],
  [
    /^(?:TRYAGAIN|MOVED|ASK)\b.*|.*Too many Cluster redirections.*/,
    "passing",
    "the cluster is moving the key's slot ($&)",
  ],
  [
    /.*(?:self.signed certificate|certificate has expired|unable to verify the first certificate|altnames|unable to get (?:local )?issuer certificate).*/i,
    "configuration",
    "the server's TLS certificate is not trusted ($&)",
  ],
  [/^the token was refused.*/, "configuration", "$&"],
  [/^HTTP (?:0|3\d\d|4\d\d)\b.*/, "configuration", "the URL is not that of a Redis REST server ($&)"],
  [/.*\bENOTFOUND\b.*/, "unlikely", "the host name is unknown ($&)"],
  [/.*\bEAI_AGAIN\b.*/, "passing", "the host name could not be looked up ($&)"],
  [/.*\b(?:ECONNREFUSED|ConnectionRefused)\b.*/, "passing", "nothing accepts connections at this address ($&)"],
];

const known: Reasons[] = [OF_ANY_STORE];

/** Makes further reasons known. Clients of Redis bring theirs, so that a bundle without such a client has none of them. */
export function addReasons(reasons: Reasons): void {
  if (!known.includes(reasons)) known.unshift(reasons);
}

/** The first reason that is known in an error, its causes, or the errors that it gathers. */
export function reasonOf(error: unknown): Reason | undefined {
  let next: unknown = error;
  for (let depth = 0; depth < 5 && next instanceof Error; depth++) {
    const { code, errors, message } = next as { code?: unknown; errors?: unknown; message: string };
    const all = typeof code === "string" && !message.includes(code) ? `${message} ${code}`.trim() : message;
    for (const [said, kind, meaning] of known.flat()) {
      const found = typeof said === "string" ? said === message && [message] : said.exec(all);
      if (!found) continue;
      const text = meaning.replace("$&", () => found[0]!.trim().split(". ")[0]!.slice(0, 200));
      return { text, isTransient: kind === "passing", isFinal: kind === "configuration" };
    }
    next = next.cause ?? (Array.isArray(errors) ? errors[0] : undefined);
  }
  return undefined;
}

/** Whether no waiting helps. */
export function isFinal(error: unknown): boolean {
  return reasonOf(error)?.isFinal === true;
}
