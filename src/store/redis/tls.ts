import { argumentError, checkKnown, OrielError } from "../../base/errors.ts";
import { isBytes } from "../../base/realm.ts";

/** PEM text, or the bytes of such a file. */
export type Pem = string | Uint8Array;

/** TLS of a store that opens a URL (rediss://). Each part is PEM: text or bytes, not the path of a file. */
export interface TlsOptions {
  /** The authorities that sign the server's certificate. Default: those of the runtime (Node: and NODE_EXTRA_CA_CERTS). */
  ca?: Pem | readonly Pem[] | undefined;
  /** This client's certificate, for a server that asks for one. With `key`. */
  cert?: Pem | undefined;
  key?: Pem | undefined;
  /** Decrypts `key`. */
  passphrase?: string | undefined;
  /** The name that the server's certificate must have. Default: the host of the URL. */
  servername?: string | undefined;
}

const KNOWN = ["ca", "cert", "key", "passphrase", "servername"];

/** Throws ARGUMENT, with nothing of a key. */
export function checkTls(tls: TlsOptions, url: string): void {
  checkKnown(tls, KNOWN, "tls");
  if (!/^rediss:/i.test(url)) throw new OrielError("ARGUMENT", "tls is given without a URL that begins with rediss://");
  const { ca, cert, key } = tls;
  for (const each of Array.isArray(ca) ? ca : [ca]) checkPem("ca", each, "CERTIFICATE");
  checkPem("cert", cert, "CERTIFICATE");
  checkPem("key", key, "PRIVATE KEY");
  if ((cert === undefined) !== (key === undefined))
    throw new OrielError("ARGUMENT", `tls has a ${cert ? "cert" : "key"} alone; cert and key belong together`);
  for (const name of ["passphrase", "servername"] as const) {
    const text = tls[name];
    // The value may be a secret.
    if (text !== undefined && typeof text !== "string") throw argumentError(`tls.${name}`, typeof text, "a text");
  }
}

function checkPem(name: string, value: unknown, kind: string): void {
  if (value === undefined) return;
  const text = isBytes(value) ? new TextDecoder("latin1").decode(value) : value;
  if (typeof text !== "string" || !text.includes("-----BEGIN ") || !text.includes(`${kind}-----`))
    throw new OrielError(
      "ARGUMENT",
      `tls.${name} is no PEM text with a ${kind}; it must be the content of a file, not its path`,
    );
}
