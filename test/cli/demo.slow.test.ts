import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { expect, test } from "vitest";
import { startRedis } from "../harness/servers/redis-server.ts";
import { program } from "./command.ts";
import { inTerminal } from "./live/terminal.ts";

const VERDICT = "every request was counted, once";

test("two seconds: one row per second, every request is counted, and no port stays open", async () => {
  const ended = await program(["demo", "--seconds", "2", "--rate", "100"]);
  expect(ended.status, ended.stdout + ended.stderr).toBe(0);
  expect(ended.stdout.split("\n").filter((line) => /^\d\d:\d\d:\d\d\s/.test(line)).length).toBe(2);
  const [sent, counted] = ["requests sent", "events in the series"].map((name) => numberAfter(ended.stdout, name));
  expect(sent).toBeGreaterThan(50);
  expect(counted).toBe(sent);
  expect(ended.stdout).toContain(VERDICT);
  expect(ended.stdout).toMatch(/kernel\s+(wasm-simd|wasm-scalar|js)/);
  const port = Number(/127\.0\.0\.1:(\d+)/.exec(ended.stdout)?.[1]);
  await expect(reached(port)).resolves.toBe(false);
});

test("by default it lasts ten seconds, with the dashboard until then", async () => {
  let isStopped = false;
  const ended = await program(["demo"], (stdout, child) => {
    if (!isStopped && /^\d\d:\d\d:\d\d\s/m.test(stdout)) isStopped = child.kill("SIGINT");
  });
  expect(ended.status, ended.stderr).toBe(0);
  expect(ended.stdout).toMatch(/^oriel demo: http:\S+, 400 requests\/s for 10 s, embedded store\n/);
  expect(ended.stdout).toMatch(/^dashboard: http:\S+ \(until the demo ends; --keep keeps it\)$/m);
});

test("SIGINT ends it early with the summary", async () => {
  let interrupted = false;
  const ended = await program(["demo", "--seconds", "600", "--rate", "100"], (stdout, child) => {
    if (!interrupted && /^\d\d:\d\d:\d\d\s/m.test(stdout)) interrupted = child.kill("SIGINT");
  });
  expect(ended.status, ended.stderr).toBe(0);
  expect(ended.stdout).toContain(VERDICT);
});

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
});

test("--keep: the dashboard shows the series, another port replaces a taken one, and Ctrl-C ends it", async () => {
  const taken = createServer().listen(4680, "127.0.0.1");
  await once(taken, "listening").catch(() => {}); // another program has it
  let asked: Promise<unknown> | undefined;
  const ended = await program(["demo", "--seconds", "1", "--rate", "100", "--keep"], (stdout, child) => {
    const [, address] = /requests go on; dashboard: (\S+)/.exec(stdout) ?? [];
    if (address === undefined || asked) return;
    asked = seriesAt(address).finally(() => child.kill("SIGINT"));
    asked.catch(() => {}); // thrown below
  });
  if (taken.listening) taken.close();
  expect(await asked).toMatchObject({ kind: "Series", name: "oriel-demo:latency-ms", processes: 1 });
  expect(ended.status, ended.stderr).toBe(0);
  expect(ended.stdout).toContain(VERDICT);
  const port = Number(/dashboard: http:\/\/127\.0\.0\.1:(\d+)\//.exec(ended.stdout)?.[1]);
  expect(port).not.toBe(4680);
  await expect(reached(port)).resolves.toBe(false);
});

test("40 columns suffice for the live table", async () => {
  const terminal = inTerminal(["demo", "--seconds", "2", "--rate", "50"], 40, 40);
  const screen = await terminal.shows(/every request was counted/);
  expect(screen).toMatch(/^ +time +req\/s +p50 ms +p99 ms$/m);
  expect(screen.match(/^\d\d:\d\d:\d\d( +[\d.]+){3}$/gm)).toHaveLength(2);
  expect(await terminal.ended).toBe(0);
});

async function seriesAt(address: string): Promise<unknown> {
  const { structures } = (await (await fetch(`${address}api/overview`)).json()) as { structures: unknown[] };
  expect(structures).toHaveLength(1);
  return structures[0];
}

function numberAfter(text: string, name: string): number {
  return Number(new RegExp(`${name}\\s+(\\d+)`).exec(text)?.[1]);
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
