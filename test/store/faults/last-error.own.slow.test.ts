import { type AddressInfo, createServer } from "node:net";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Lock } from "../../../src/entries/index.ts";
import { LastError } from "../../../src/store/health/last-error.ts";
import { clients, storeOn } from "../contract/clients.ts";

const DEADLINE_MS = 900; // less than the second for which a reason stands
const BUSY = "-BUSY Redis is busy running a script\r\n";

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

test("the reason of one connection stands for a second while the next one is silent", () => {
  const lastError = new LastError("unreached");
  lastError.connected();
  expect(lastError.current?.message).toMatch(/is still being opened/);
  vi.advanceTimersByTime(1000);
  expect(lastError.current?.message).toMatch(/accepts connections and does not answer/);
  lastError.failed(new Error("BUSY Redis is busy running a script"));
  lastError.closed();
  lastError.connected();
  expect(lastError.current?.message).toMatch(/^BUSY/);
  vi.advanceTimersByTime(999);
  expect(lastError.current?.message).toMatch(/^BUSY/);
  vi.advanceTimersByTime(1);
  expect(lastError.current?.message).toMatch(/accepts connections and does not answer/);
});

test("a connection that closes without a reason keeps the reason of the next", () => {
  const lastError = new LastError("unreached");
  for (let times = 0; times < 3; times++) {
    lastError.connected();
    lastError.closed();
    expect(lastError.current?.message).toMatch(/may expect TLS/);
  }
  lastError.connected();
  expect(lastError.current?.message).toMatch(/may expect TLS/);
});

test("a server's refusal is the reason of later connections that are cut, until one is ready", () => {
  const lastError = new LastError("unreached");
  lastError.connected();
  lastError.refusal = new Error("ERR max number of clients reached");
  lastError.failed(lastError.refusal);
  lastError.closed();
  lastError.connected();
  lastError.closed();
  expect(lastError.current?.message).toMatch(/^ERR max number/);
  lastError.ready();
  lastError.connected();
  lastError.closed();
  expect(lastError.current?.message).toMatch(/may expect TLS/);
});

test("the next connection ends the reason why there was none, and a reason that names nothing", () => {
  const lastError = new LastError("unreached");
  lastError.failed(new Error("connect ECONNREFUSED 127.0.0.1:1"));
  lastError.connected();
  expect(lastError.current?.message).toMatch(/is still being opened/);
  lastError.failed(new Error("Socket closed unexpectedly"));
  lastError.closed();
  lastError.connected();
  expect(lastError.current?.message).toMatch(/is still being opened/);
  expect(lastError.isOpening).toBe(false);
  lastError.ready();
  lastError.closed();
  expect(lastError.current).toBeUndefined();
  expect(lastError.orWhileConnecting(true)?.message).toBe("unreached");
  expect(lastError.orWhileConnecting(false)).toBeUndefined();
});

test.each(["ioredis 6", "ioredis 5"] as const)(
  "the server's reason is reported when the next connection is silent: %s",
  async (name) => {
    vi.useRealTimers();
    let connections = 0;
    const server = createServer((socket) => {
      socket.on("error", () => {});
      // A reply to each command that came.
      if (connections++ === 0)
        socket.on("data", (sent) => socket.write(BUSY.repeat(sent.toString().match(/^\*\d+\r$/gm)!.length)));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const given = clients[name](`redis://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const store = storeOn(given, { deadline: DEADLINE_MS });
    await expect(new Lock(store, "k").tryLock()).rejects.toMatchObject({
      message: expect.stringMatching(/runs a script that does not end \(BUSY/),
    });
    expect(connections).toBeGreaterThan(1);
    await store.close();
    given.end();
    server.close();
  },
);
