import { writeFileSync } from "node:fs";
import { inspect } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { redisStore, type TlsOptions } from "../../src/entries/index.ts";
import { command } from "../cli/command.ts";
import { reportOf } from "../doctor/report-of.ts";
import { holdingTimers } from "../harness/clock/held-timers.ts";
import { failureOf, openers, passLock } from "./openers.ts";
import { startTlsRedis, type TlsRedis } from "./tls-redis.ts";

let redis: TlsRedis;
let url: string;
beforeAll(async () => {
  redis = await startTlsRedis();
  url = `rediss://127.0.0.1:${redis.tlsPort}`;
});
afterAll(() => redis?.stop());
beforeEach(() => redis.authClients("no"));

/** The options of a user, and the message. TLS 1.2 reports a refused client before the handshake ends. */
type Wrong = [what: string, tls: () => TlsOptions & { maxVersion?: "TLSv1.2" }, message: RegExp, must: "yes" | "no"];

const wrong: Wrong[] = [
  [
    "no CA",
    () => ({}),
    /certificate is not trusted \(self-signed certificate in certificate chain.*\); pass the CA that signed it \(tls: \{ ca \}/,
    "no",
  ],
  [
    "another CA",
    () => ({ ca: redis.certificates.otherCa.cert }),
    /certificate is not trusted \(self-signed certificate in certificate chain.*\); pass the CA that signed it \(tls: \{ ca \}/,
    "no",
  ],
  [
    "another host name",
    () => ({ ca: redis.certificates.ca.cert, servername: "db.example" }),
    /certificate is that of another host \(.*Host: db\.example\); use its host name, or pass it \(tls: \{ servername \}\)/,
    "no",
  ],
  [
    "no client's certificate, in TLS 1.2",
    () => ({ ca: redis.certificates.ca.cert, maxVersion: "TLSv1.2" }),
    /refuses the TLS handshake \(alert handshake failure\); pass a client's certificate \(tls: \{ cert, key \}\)/,
    "yes",
  ],
  [
    "a client's certificate of another CA, in TLS 1.2",
    () => ({ ...theirs(), maxVersion: "TLSv1.2" }),
    /does not trust this client's certificate \(alert unknown ca\); pass one that its CA has signed \(tls: \{ cert, key \}\)/,
    "yes",
  ],
  [
    "a key of another certificate",
    () => ({ ...ours(), key: redis.certificates.server.key }),
    /certificate or key of this client cannot be used \(key values mismatch\); pass PEM texts that belong together/,
    "yes",
  ],
];

const ours = () => {
  const { ca, client } = redis.certificates;
  return { ca: ca.cert, cert: client.cert, key: client.key };
};
const theirs = () => {
  const { ca, otherCa } = redis.certificates;
  return { ca: ca.cert, cert: otherCa.cert, key: otherCa.key };
};

describe.each(Object.entries(openers))("over %s", (of, open) => {
  /** A store has no option for the version. */
  const rows = wrong.filter(([what]) => of !== "a URL" || !what.endsWith("in TLS 1.2"));

  test("a CA: calls and messages pass", async () => {
    await passLock(open(url, { tls: { ca: redis.certificates.ca.cert } }));
  });

  test("a client's certificate: calls and messages pass", async () => {
    await redis.authClients("yes");
    await passLock(open(url, { tls: ours() }));
  });

  test.each(rows)("%s: the error names the reason and what to do, at once", async (_what, tls, message, must) => {
    await redis.authClients(must);
    // The deadline is longer.
    const error = await holdingTimers(5000, () => failureOf(open(url, { tls: tls() })));
    expect(error.message).toMatch(message);
    expect(error).toMatchObject({ name: "OrielError", code: "UNAVAILABLE", applied: "no", transient: false });
    expect(inspect(error, { depth: 9 })).not.toContain("PRIVATE KEY");
  });
});

// A server that refuses in TLS 1.3 has accepted the handshake. Its alert may be lost, as it then resets the connection.
// node-redis 6.12 has no listener for that second error, which ends the process.
test.each(Object.entries(openers).filter(([of]) => !of.startsWith("node-redis")))(
  "over %s: a missing or refused client's certificate in TLS 1.3",
  async (_of, open) => {
    await redis.authClients("yes");
    for (const tls of [{ ca: redis.certificates.ca.cert }, theirs()]) {
      const { message } = await failureOf(open(url, { tls }));
      expect(message).toMatch(/alert (certificate required|unknown ca)|closes TLS connections without an answer/);
      expect(message).toContain("(tls: { cert, key })");
    }
  },
);

test("wrong options are refused before a connection, without a key", () => {
  const { key } = redis.certificates.client;
  const refused: [url: string, tls: object, message: RegExp][] = [
    [url, { ca: "./ca.pem" }, /^redisStore: tls\.ca is no PEM text with a CERTIFICATE; .* not its path$/],
    [url, { ca: ["./ca.pem"] }, /tls\.ca is no PEM text/],
    [url, { ca: 5 }, /tls\.ca is no PEM text/],
    [url, { ...ours(), cert: key }, /tls\.cert is no PEM text with a CERTIFICATE/],
    [url, { ...ours(), key: Buffer.from("secret") }, /tls\.key is no PEM text with a PRIVATE KEY/],
    [url, { key }, /tls has a key alone; cert and key belong together/],
    [url, { ...ours(), passphrase: 5 }, /tls\.passphrase is .*number.*; it must be a text/],
    [url, { cA: key }, /option of tls is "cA"; it must be one of ca, cert, key/],
    [`redis://127.0.0.1:${redis.plain.port}`, {}, /tls is given without a URL that begins with rediss:/],
  ];
  for (const [to, tls, message] of refused) {
    let error: unknown;
    try {
      redisStore(to, { tls });
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ code: "ARGUMENT", message: expect.stringMatching(message) });
    expect(inspect(error)).not.toMatch(/PRIVATE KEY-----|secret/);
  }
  const client = { sendCommand() {}, status: "wait" } as never;
  expect(() => redisStore(client, { tls: {} })).toThrow(/tls is an option for a URL; give it to the client/);
});

test("bytes and several authorities are accepted", async () => {
  const { ca, otherCa } = redis.certificates;
  await passLock(openers["a URL"]!(url, { tls: { ca: [otherCa.cert, Buffer.from(ca.cert)] } }));
});

test("the doctor: --tls-ca, --tls-cert and --tls-key", async () => {
  const { ca, client, otherCa } = redis.certificates;
  await redis.authClients("yes");
  const files = ["--tls-ca", ca.certFile, "--tls-cert", client.certFile, "--tls-key", client.keyFile];
  const good = await reportOf(url, ...files);
  expect(good.check("connection").facts).toEqual({ tls: true, user: "default" });
  expect(good.check("messages").verdict).toBe("good");
  expect(good.check("steps").verdict).toBe("good");
  await redis.authClients("no");
  const { status, check } = await reportOf(url, "--tls-ca", otherCa.certFile);
  expect(status).toBe(2);
  expect(check("connection")).toMatchObject({
    text: expect.stringMatching(/^the server's TLS certificate is not trusted \(self-signed certificate in .*\)$/),
    advice: "Pass the CA that signed it (--tls-ca here, tls: { ca } in a program, or NODE_EXTRA_CA_CERTS).",
  });
  const empty = `${ca.certFile}.empty`;
  writeFileSync(empty, "");
  for (const [args, message] of [
    [["--tls-ca", `${ca.certFile}.missing`], /--tls-ca cannot be read: ENOENT/],
    [["--tls-ca", empty], /tls\.ca is no PEM text with a CERTIFICATE/],
    [["--tls-key", client.keyFile], /tls has a key alone/],
  ] as const) {
    const refused = await command(["doctor", "--redis", url, ...args]);
    expect(refused).toMatchObject({ status: 2, stderr: expect.stringMatching(message) });
  }
});
