import type { ChildProcess } from "node:child_process";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { startRedis } from "../harness/servers/redis-server.ts";
import { program } from "./command.ts";

const VERDICT = "every request was counted, once";

test("two seconds: one row per second, every request is counted, and no port stays open", async () => {
  const ended = await program(["demo", "--seconds", "2", "--rate", "100"]);
  expect(ended.status, ended.stdout + ended.stderr).toBe(0);
  expect(ended.stdout.split("\n").filter((line) => /^\d\d:\d\d:\d\d\s/.test(line)).length).toBe(2);
  const [sent, counted] = ["requests sent", "events in the series"].map((name) => numberAfter(ended.stdout, name));
  expect(sent).toBeGreaterThan(50);
  expect(counted).toBe(sent);
  expect(ended.stdout).toContain(VERDICT);
  expect(ended.stdout).toMatch(/kernel\s+│\s+(wasm-simd|wasm-scalar|js)/);
  const port = Number(/127\.0\.0\.1:(\d+)/.exec(ended.stdout)?.[1]);
  await expect(reached(port)).resolves.toBe(false);
}, 60_000);

test("SIGINT ends it early with the summary", async () => {
  let interrupted = false;
  const ended = await program(["demo", "--seconds", "600", "--rate", "100"], (stdout, child) => {
    if (!interrupted && /^\d\d:\d\d:\d\d\s/m.test(stdout)) interrupted = child.kill("SIGINT");
  });
  expect(ended.status, ended.stderr).toBe(0);
  expect(ended.stdout).toContain(VERDICT);
}, 60_000);

test("two demos share one series in Redis: each shows the events of both", async () => {
  const redis = await startRedis({ tcp: true });
  const args = ["demo", "--seconds", "600", "--rate", "100", "--redis", redis.url];
  // Each ends once both have shown a row: what a slow machine starts late is waited for.
  const shown = new Map<number, ChildProcess>();
  const both = await Promise.all(
    [0, 1].map((each) =>
      program(args, (stdout, child) => {
        if (shown.has(each) || !/^\d\d:\d\d:\d\d\s/m.test(stdout)) return;
        shown.set(each, child);
        if (shown.size === 2) for (const one of shown.values()) one.kill("SIGINT");
      }),
    ),
  );
  await redis.stop();
  for (const ended of both) {
    expect(ended.status, ended.stdout + ended.stderr).toBe(0);
    expect(numberAfter(ended.stdout, "from other demos")).toBeGreaterThan(0);
  }
}, 60_000);

function numberAfter(text: string, name: string): number {
  return Number(new RegExp(`${name}\\s+│\\s+(\\d+)`).exec(text)?.[1]);
}

function reached(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}
