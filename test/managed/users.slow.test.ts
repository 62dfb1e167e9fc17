import { inspect } from "node:util";
import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Lock, type OrielError, redisStore, type WatchedStore } from "../../src/entries/index.ts";
import { reportOf } from "../doctor/report-of.ts";
import { until } from "../harness/until.ts";
import { failureOf, openers, passLock } from "./openers.ts";
import { startTlsRedis, type TlsRedis } from "./tls-redis.ts";

const USER = "team:app@eu";
const PASSWORD = "p@ss:w/rd%41?#[x]+&=ü planted";
const NEXT = "planted, the next one: 100%";
/** The rules of docs/servers.md. */
const RULES = [
  ...["~oriel:*", "~sw_counter_bytes:*", "&due:oriel:*", "&oriel:*"],
  ...["+@read", "+@write", "+@scripting", "+@connection", "+@pubsub", "+@transaction", "+info", "+time", "+wait"],
];

let redis: TlsRedis;
let raw: Redis;
beforeAll(async () => {
  redis = await startTlsRedis();
  raw = new Redis(redis.plain.url);
});
afterAll(async () => {
  raw?.disconnect();
  await redis?.stop();
});
beforeEach(() => setPassword(PASSWORD));

async function setPassword(password: string): Promise<void> {
  await raw.call("ACL", "SETUSER", USER, "reset", "on", `>${password}`, ...RULES);
}

const urlOf = (password: string, scheme = "redis", port = redis.plain.port) =>
  `${scheme}://${encodeURIComponent(USER)}:${encodeURIComponent(password)}@127.0.0.1:${port}/0`;

function expectRefused(error: Error): void {
  expect(error.message).toMatch(
    /: the server refused the user name or password \(WRONGPASS .*\) \(redis at 127\.0\.0\.1/,
  );
  expect(error).toMatchObject({ code: "UNAVAILABLE", applied: "no", transient: false });
  expectNoSecret(error);
}

function expectNoSecret(error: Error): void {
  const printed = `${inspect(error, { depth: 9, showHidden: true })}${JSON.stringify(error)}${error.stack}`;
  for (const password of [PASSWORD, NEXT])
    for (const form of [password, encodeURIComponent(password), encodeURI(password), btoa(escape(password))])
      expect(printed).not.toContain(form);
  expect(printed).not.toContain("planted");
}

describe.each(Object.entries(openers))("over %s", (_of, open) => {
  test("a user and a password of any characters", async () => {
    await passLock(open(urlOf(PASSWORD)));
    await passLock(open(urlOf(PASSWORD, "rediss", redis.tlsPort), { tls: { ca: redis.certificates.ca.cert } }));
  });

  test("a wrong password is reported, and no password", async () => {
    expectRefused(await failureOf(open(urlOf(NEXT))));
  });

  test("a password is changed while connected: calls fail with the reason, until the server takes it again", async () => {
    const store = open(urlOf(PASSWORD), { deadline: 2000 });
    await passLock(store);
    await setPassword(NEXT);
    await passLock(store); // open connections keep their rights
    await raw.call("CLIENT", "KILL", "USER", USER);
    await until("the client is refused", () => failsWith(store, "UNAVAILABLE"));
    expectRefused(await failureOf(store));
    // A user may have two passwords at a time, so that one is replaced without an outage.
    await raw.call("ACL", "SETUSER", USER, `>${PASSWORD}`);
    await until("it is served again", async () => !(await failsWith(store, "UNAVAILABLE")));
    await passLock(store);
  });
});

async function failsWith(store: WatchedStore, code: string): Promise<boolean> {
  return new Lock(store, "asked").isHeld().then(
    () => false,
    (error: OrielError) => error.code === code,
  );
}

test("the doctor: a user, TLS, and no password in its output", async () => {
  const { check } = await reportOf(
    urlOf(PASSWORD, "rediss", redis.tlsPort),
    "--tls-ca",
    redis.certificates.ca.certFile,
  );
  expect(check("connection")).toMatchObject({ verdict: "good", facts: { tls: true, user: USER } });
  expect(check("steps").verdict).toBe("good");
  expect(check("rights").verdict).toBe("good");
  const refused = await reportOf(urlOf(NEXT, "rediss", redis.tlsPort), "--tls-ca", redis.certificates.ca.certFile);
  expect(refused.check("connection").text).toMatch(/^the server refused the user name or password \(WRONGPASS/);
  expect(JSON.stringify(refused.report)).not.toContain("planted");
});

test.each(["redis://app:100%@host:6379", "redis://a%ZZ:planted@host", "redis://app:planted%E0%A4%A@host"])(
  "%s: a percent sign that is not encoded is refused, without the password",
  (url) => {
    let error: unknown;
    try {
      redisStore(url);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ code: "ARGUMENT", message: expect.stringContaining("encodeURIComponent") });
    expect(inspect(error)).not.toMatch(/planted|100%/);
  },
);

test("options of the URL that ioredis refuses: calls fail with the reason, and the process goes on", async () => {
  const error = await failureOf(openers["a URL"]!(`${urlOf(PASSWORD)}?protocol=2&replyMapping=resp3`));
  expect(error).toMatchObject({ code: "UNAVAILABLE", applied: "no" });
  expect(inspect(error, { depth: 9 })).toMatch(
    /ioredis refuses the options in the URL[\s\S]*only supported with protocol 3/,
  );
  expectNoSecret(error);
});
