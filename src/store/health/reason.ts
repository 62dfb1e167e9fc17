/** Why a server cannot be used, in words for whoever has to mend it. */
export interface Reason {
  text: string;
  /** The same call may succeed later without a change of the configuration. */
  isTransient: boolean;
  /** Nothing that a call waits for will change it: it rejects at once. */
  isFinal: boolean;
}

type Kind = "configuration" | "unlikely" | "passing";

/** What adapters say of how far they got. */
export const SILENT = "the server accepts connections and does not answer";
export const CLOSES =
  "the server closes connections without an answer; it may expect TLS on this port (rediss://, or the option tls)";
export const UNREACHED = "the server does not accept connections";
export const STORE_CLOSED = "the store was closed";
export const NO_TLS = "the server does not answer the TLS handshake; it may speak no TLS on this port (redis://)";
/** ioredis tells nothing else of a cluster that it cannot connect to. */
export const NO_NODE =
  "none of the cluster's nodes could be reached: they are down, or a host name, a port or the use of TLS is wrong";
/** Clients of clusters ask for the state before they send anything, and keep the answer to themselves. */
export const NOT_WHOLE =
  "the cluster's nodes say that it is down, or do not let this user ask whether it is (CLUSTER INFO)";

/**
 * What servers and runtimes say, and what it means; `$&` is what was said. "configuration": no waiting helps. "unlikely": no
 * waiting is known to help, but it is waited for. "passing": it may be over in a moment.
 */
const REASONS: readonly [said: RegExp, kind: Kind, meaning: string][] = [
  [/^WRONGPASS\b.*|^ERR invalid password.*/, "configuration", "the server refused the user name or password ($&)"],
  [/^NOAUTH\b.*/, "configuration", "the server requires a password, and none was given ($&)"],
  [
    /^(?:NOPERM\b|ERR (?:The user executing|ACL failure)).*/,
    "configuration",
    "the user's ACL rules do not allow this ($&)",
  ],
  [/^DENIED\b[^.]*/, "configuration", "the server is in protected mode ($&)"],
  [
    /^ERR (?:invalid DB index|DB index is out of range).*/,
    "configuration",
    "the server does not have this database ($&)",
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
  [/^ERR max number of clients.*/, "passing", "the server has no room for another connection ($&)"],
  [
    /.*got "(?:H|\\u0048)" as reply type byte.*|.*Unknown RESP type 72.*/,
    "configuration",
    "not a Redis server: it answers HTTP",
  ],
  [
    /.*got "\\u0015" as reply type byte.*|.*Unknown RESP type 21.*/,
    "configuration",
    "the server expects TLS on this port; use rediss:// or the option tls",
  ],
  [
    /.*as reply type byte.*|.*Unknown RESP type.*/,
    "configuration",
    "not a Redis server: its answers are not in Redis' protocol",
  ],
  [
    /.*(?:wrong version number|packet length too long|SSL_WRONG_VERSION_NUMBER|tlsv1 alert|unexpected message).*/i,
    "configuration",
    "the server does not speak TLS on this port; use redis:// or the port that does",
  ],
  [
    /.*(?:self.signed certificate|certificate has expired|unable to verify the first certificate|altnames|unable to get (?:local )?issuer certificate).*/i,
    "configuration",
    "the server's TLS certificate is not trusted ($&)",
  ],
  [/^the token was refused.*/, "configuration", "$&"],
  [/^HTTP (?:0|3\d\d|4\d\d)\b.*/, "configuration", "the URL is not that of a Redis REST server ($&)"],
  [/.*Socket timeout\. Expecting data.*/, "passing", SILENT],
  [/.*\bENOTFOUND\b.*/, "unlikely", "the host name is unknown ($&)"],
  [/.*\bEAI_AGAIN\b.*/, "passing", "the host name could not be looked up ($&)"],
  [/.*\b(?:ECONNREFUSED|ConnectionRefused)\b.*/, "passing", "nothing accepts connections at this address ($&)"],
  [/.*\bEACCES\b.*/, "configuration", "this process may not open the socket ($&)"],
  [/.*\bENOENT\b.*/, "passing", "the socket does not exist ($&)"],
];

const OURS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  [SILENT, "passing"],
  [CLOSES, "passing"],
  [UNREACHED, "passing"],
  [NO_NODE, "passing"],
  [NOT_WHOLE, "passing"],
  [NO_TLS, "unlikely"],
]);

/** The first reason that is known in an error, its causes, or the errors that it gathers. */
export function reasonOf(error: unknown): Reason | undefined {
  let next: unknown = error;
  for (let depth = 0; depth < 5 && next instanceof Error; depth++) {
    const { code, errors, message } = next as { code?: unknown; errors?: unknown; message: string };
    const ours = OURS.get(message);
    if (ours) return { text: message, isTransient: ours === "passing", isFinal: false };
    const said = typeof code === "string" && !message.includes(code) ? `${message} ${code}`.trim() : message;
    for (const [pattern, kind, meaning] of REASONS) {
      const found = pattern.exec(said);
      if (!found) continue;
      const text = meaning.replace("$&", () => found[0].trim().split(". ")[0]!.slice(0, 200));
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
