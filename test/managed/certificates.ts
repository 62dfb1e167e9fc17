import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

interface Certificate {
  readonly cert: string;
  readonly key: string;
  readonly certFile: string;
  readonly keyFile: string;
}

/** Certificates of one day, made for one run. */
export interface Certificates {
  readonly ca: Certificate;
  /** An authority that has signed none of the others. */
  readonly otherCa: Certificate;
  /** For the loopback addresses and `localhost`. */
  readonly server: Certificate;
  /** Of a client, signed by `ca`. */
  readonly client: Certificate;
  remove(): void;
}

const KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"];
const LOOPBACK = "subjectAltName=IP:127.0.0.1,IP:::1,DNS:localhost";

export function makeCertificates(): Certificates {
  const folder = mkdtempSync(join(tmpdir(), "oriel-certificates-"));
  const make = (name: string, ...args: string[]): Certificate => {
    const [certFile, keyFile] = [join(folder, `${name}.pem`), join(folder, `${name}.key`)];
    const request = ["req", "-x509", ...KEY, "-subj", `/CN=${name}`, "-keyout", keyFile, "-out", certFile];
    execFileSync("openssl", [...request, ...args], { stdio: "ignore" });
    return { cert: readFileSync(certFile, "utf8"), key: readFileSync(keyFile, "utf8"), certFile, keyFile };
  };
  const ca = make("ca");
  const signed = ["-CA", ca.certFile, "-CAkey", ca.keyFile, "-addext", "basicConstraints=critical,CA:FALSE"];
  return {
    ca,
    otherCa: make("other-ca"),
    server: make("server", ...signed, "-addext", LOOPBACK),
    client: make("client", ...signed),
    remove: () => rmSync(folder, { recursive: true }),
  };
}

/** The arguments of a server that shows the server's certificate and knows the clients of `ca`. */
export function tlsArguments({ server, ca }: Certificates, clients: "yes" | "no"): string[] {
  const files = ["--tls-cert-file", server.certFile, "--tls-key-file", server.keyFile];
  return [...files, "--tls-ca-cert-file", ca.certFile, "--tls-auth-clients", clients];
}
