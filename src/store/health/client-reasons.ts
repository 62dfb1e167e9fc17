import type { Reasons } from "./reason.ts";

/** Texts of adapters about the state of a connection. */
export const SILENT = "the server accepts connections and does not answer";
export const CLOSES =
  "the server closes connections without an answer; it may expect TLS on this port (rediss://, or the option tls)";
export const CLOSES_TLS =
  "the server closes TLS connections without an answer; it may require a client's certificate, or refuse this one (tls: { cert, key })";
export const CLIENT_LOADS = "the client is still being loaded";
export const UNREACHED = "the connection to the server is still being opened";
export const STORE_CLOSED = "the store was closed";
export const NO_TLS = "the server does not answer the TLS handshake; it may speak no TLS on this port (redis://)";
/** ioredis reports nothing else about a cluster that it cannot reach. */
export const NO_NODE =
  "none of the cluster's nodes could be reached: they are down, or a host name, a port or the use of TLS is wrong";
/** Clients ask a cluster for its state before they send commands, and do not report the answer. */
export const NOT_WHOLE =
  "the cluster's nodes say that it is down, or do not let this user ask whether it is (CLUSTER INFO)";

/** Reasons that only clients with a connection meet. */
export const CLIENT_REASONS: Reasons = [
  [SILENT, "passing", SILENT],
  [CLOSES, "passing", CLOSES],
  [CLOSES_TLS, "passing", CLOSES_TLS],
  [CLIENT_LOADS, "passing", CLIENT_LOADS],
  [UNREACHED, "passing", UNREACHED],
  [/^the package ioredis cannot be loaded.*/, "configuration", "$&"],
  [/^ioredis refuses the options in the URL.*/, "configuration", "$&"],
  [NO_NODE, "passing", NO_NODE],
  [NOT_WHOLE, "passing", NOT_WHOLE],
  [NO_TLS, "unlikely", NO_TLS],
  [
    /^ERR unknown (?:sub)?command\W*(?:FUNCTION|FCALL)\b.*/i,
    "configuration",
    'the server has no functions ($&); leave out scripting: "functions"',
  ],
  [
    /^MASTERDOWN\b.*/,
    "passing",
    "the server is a replica without its primary ($&); use the primary's address, or repair the link",
  ],
  [
    /^MOVED\b.*/,
    "passing",
    "another node of the cluster has the key's slot ($&); a plain client reaches one node, so pass a cluster's client",
  ],
  [
    /^CROSSSLOT\b.*/,
    "configuration",
    "the server refuses keys of several slots in one call ($&); pass a cluster's client",
  ],
  [/^(?:TRYAGAIN|ASK)\b.*|.*Too many Cluster redirections.*/, "passing", "the cluster is moving the key's slot ($&)"],
  [/^WRONGPASS\b.*|^ERR invalid password.*/, "configuration", "the server refused the user name or password ($&)"],
  [/^NOAUTH\b.*/, "configuration", "the server requires a password, and none was given ($&)"],
  [/^DENIED\b[^.]*/, "configuration", "the server is in protected mode ($&)"],
  [
    /^ERR (?:invalid DB index|DB index is out of range).*/,
    "configuration",
    "the server does not have this database ($&)",
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
    /self.signed certificate.*|unable to (?:verify the first certificate|get (?:local )?issuer certificate)/i,
    "configuration",
    "the server's TLS certificate is not trusted ($&); pass the CA that signed it (tls: { ca }, or NODE_EXTRA_CA_CERTS)",
  ],
  [
    /[^.]*\baltnames: Host: .*/i,
    "configuration",
    "the server's TLS certificate is that of another host ($&); use its host name, or pass it (tls: { servername })",
  ],
  [
    /alert certificate required/,
    "configuration",
    "the server requires a client's certificate ($&); pass one (tls: { cert, key })",
  ],
  [
    /alert (?:unknown ca|bad certificate|(?:unsupported |no )certificate|certificate (?:revoked|expired|unknown))/,
    "configuration",
    "the server does not trust this client's certificate ($&); pass one that its CA has signed (tls: { cert, key })",
  ],
  [
    /alert handshake failure/,
    "configuration",
    "the server refuses the TLS handshake ($&); pass a client's certificate (tls: { cert, key }), or allow newer TLS",
  ],
  [
    /PEM routines.*|key values mismatch|bad decrypt|wrong tag/,
    "configuration",
    "the certificate or key of this client cannot be used ($&); pass PEM texts that belong together (tls: { cert, key })",
  ],
  [
    /.*(?:wrong version number|packet length too long|SSL_WRONG_VERSION_NUMBER|tlsv1 alert|unexpected message).*/i,
    "configuration",
    "the server does not speak TLS on this port; use redis:// or the port that does",
  ],
  [/.*Socket timeout\. Expecting data.*/, "silence", SILENT],
  [/.*\bEACCES\b.*/, "configuration", "this process may not open the socket ($&)"],
  [/.*\bENOENT\b.*/, "passing", "the socket does not exist ($&)"],
];
