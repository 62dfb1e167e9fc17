import { createServer as createHttp } from "node:http";
import { type AddressInfo, createServer, type Server } from "node:net";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { command } from "../cli/command.ts";
import { freePort, type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { reportOf } from "./report-of.ts";

const PASSWORD = "p@ss:w/rd";
/** It ends calls that nobody answers. */
const SHORT = ["--deadline", "2s"];
let server: RedisServer;
beforeAll(async () => {
  server = await startRedis({ tcp: true });
  const raw = new Redis(server.url);
  await raw.config("SET", "requirepass", PASSWORD);
  raw.disconnect();
});
afterAll(() => server?.stop());

/** Examines the port of a server that is no Redis. */
async function reportOfPort(other: Server, options: string[] = []) {
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  try {
    return await reportOf(`redis://127.0.0.1:${(other.address() as AddressInfo).port}`, ...options);
  } finally {
    other.close();
  }
}

test("an address without a server", async () => {
  const { status, ofServer } = await reportOf(`redis://127.0.0.1:${await freePort()}`);
  expect(status).toBe(2);
  expect(ofServer).toEqual([
    {
      name: "connection",
      verdict: "unusable",
      text: expect.stringContaining("nothing accepts connections at this"),
      advice: "Start the server, or correct the host and the port.",
    },
  ]);
});

test("a port that is no Redis, or is silent, or closes connections", async () => {
  const http = createHttp((_, response) => response.end("hello")) as unknown as Server;
  expect((await reportOfPort(http)).check("connection").text).toBe("not a Redis server: it answers HTTP");
  const ssh = createServer((socket) => socket.end("SSH-2.0-OpenSSH_9.2\r\n"));
  expect((await reportOfPort(ssh)).check("connection").text).toMatch(/^not a Redis server/);
  const silent = createServer((socket) => socket.unref());
  expect((await reportOfPort(silent, SHORT)).check("connection").text).toBe(
    "the server accepts connections and does not answer",
  );
  const closing = createServer((socket) => socket.destroy());
  expect((await reportOfPort(closing)).check("connection").text).toMatch(
    /^the server closes connections without an answer; it may expect TLS/,
  );
});

test("a wrong password, a missing one, a missing database, TLS to a plain port", async () => {
  const at = `127.0.0.1:${server.port}`;
  const wrong = "Correct the user name or the password. In a URL, percent-encode both (encodeURIComponent).";
  const texts: [url: string, text: RegExp, advice?: string][] = [
    [`redis://:wr%40ng@${at}`, /^the server refused the user name or password \(WRONGPASS/, wrong],
    [`redis://nobody:${encodeURIComponent(PASSWORD)}@${at}`, /^the server refused the user name or password/, wrong],
    [
      `redis://${at}`,
      /^the server requires a password, and none was given \(NOAUTH/,
      "Pass it in the URL: redis://user:password@host:port.",
    ],
    [
      `redis://:${encodeURIComponent(PASSWORD)}@${at}/99`,
      /^the server does not have this database/,
      "Correct the number behind the port in the URL, or leave it out.",
    ],
    [`rediss://${at}`, /^the server does not answer the TLS handshake; it may speak no TLS/],
  ];
  for (const [url, text, advice] of texts) {
    const { status, report, ofServer } = await reportOf(url, ...(url.startsWith("rediss:") ? SHORT : []));
    expect(status, url).toBe(2);
    expect(ofServer).toHaveLength(1);
    expect(report.checks[0]).toMatchObject({
      name: "connection",
      verdict: "unusable",
      text: expect.stringMatching(text),
    });
    expect(report.checks[0]!.advice, url).toBe(advice);
  }
});

test("the URL may come from the environment, and no output contains a password", async () => {
  const before = process.env.REDIS_URL;
  const passwords = [PASSWORD, encodeURIComponent(PASSWORD), "wr@ng", "wr%40ng"];
  try {
    for (const password of [PASSWORD, "wr@ng"])
      for (const json of [["--json"], []]) {
        process.env.REDIS_URL = `redis://:${encodeURIComponent(password)}@127.0.0.1:${server.port}`;
        const { status, stdout, stderr } = await command(["doctor", ...json]);
        expect(status).toBe(password === PASSWORD ? 1 : 2);
        expect(stdout).toContain("connection");
        for (const secret of passwords) expect(stdout + stderr).not.toContain(secret);
      }
    delete process.env.REDIS_URL;
    const { status, stderr } = await command(["doctor"]);
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining("--redis is missing") });
  } finally {
    if (before !== undefined) process.env.REDIS_URL = before;
    else delete process.env.REDIS_URL;
  }
});

test("a URL without --redis is answered with the option, and not repeated", async () => {
  for (const name of ["doctor", "demo"]) {
    const { status, stdout, stderr } = await command([name, `redis://:${encodeURIComponent(PASSWORD)}@127.0.0.1`]);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toMatch(/^oriel: too many arguments .*; write --redis before the URL of a server\n$/);
    expect(stderr).not.toContain(encodeURIComponent(PASSWORD));
  }
});

test("wrong arguments are refused without the URL", async () => {
  const { status, stderr } = await command(["doctor", "--redis", `http://:${PASSWORD}@host`]);
  expect(status).toBe(2);
  expect(stderr).toMatch(/^oriel: ARGUMENT --redis has the scheme http:\/\//);
  expect(stderr).not.toContain(PASSWORD);
  const late = await command(["doctor", "--redis", server.url, "--deadline", "1h"]);
  expect(late).toMatchObject({ status: 2, stderr: expect.stringContaining("--deadline") });
});

test("a server that stops during the examination ends it within a deadline", async () => {
  const raw = new Redis(server.url, { password: PASSWORD });
  const url = `redis://:${encodeURIComponent(PASSWORD)}@127.0.0.1:${server.port}`;
  try {
    // From the 20th command on, every command waits.
    const monitor = await raw.monitor();
    let seen = 0;
    monitor.on("monitor", () => {
      if (++seen === 20) server.pause();
    });
    // The server stays stopped, so that only the deadline can end it.
    const { status, check, ofServer } = await reportOf(url, ...SHORT);
    monitor.disconnect();
    expect(status).toBe(2);
    expect(ofServer.length).toBeGreaterThan(1);
    expect(ofServer.at(-1)).toMatchObject({ name: "connection", verdict: "unusable" });
    expect(ofServer.at(-1)!.text).toMatch(/^the server stopped answering: /);
    expect(check("version").verdict).toBe("good");
  } finally {
    server.resume();
    raw.disconnect();
  }
});
