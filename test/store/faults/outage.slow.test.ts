import { expect, test } from "vitest";
import { Outage } from "../../../src/store/health/server-health.ts";

const DEADLINE_MS = 300;
const LONGEST_PAUSE_MS = 1000;

test("there is one probe at a time, and at most a second between two, however long the outage", () => {
  const outage = new Outage("db:6379", "k", new Error("connect ECONNREFUSED"));
  const pausesMs: number[] = [];
  for (let nowMs = 0, probes = 0; probes < 50; probes++) {
    expect(outage.begin(nowMs, DEADLINE_MS)).toBe(true);
    expect(outage.begin(nowMs, DEADLINE_MS)).toBe(false);
    expect(outage.begin(nowMs + DEADLINE_MS - 1, DEADLINE_MS)).toBe(false);
    nowMs += DEADLINE_MS;
    outage.failed(nowMs, undefined);
    const restMs = outage.restMs(nowMs);
    pausesMs.push(restMs);
    expect(outage.begin(nowMs + restMs - 0.01, DEADLINE_MS)).toBe(false);
    nowMs += restMs;
  }
  for (const [i, pauseMs] of pausesMs.entries()) {
    const longestMs = Math.min(50 * 2 ** i, LONGEST_PAUSE_MS);
    expect(pauseMs).toBeGreaterThanOrEqual(longestMs / 2);
    expect(pauseMs).toBeLessThanOrEqual(longestMs);
  }
  expect(new Set(pausesMs.slice(10)).size).toBeGreaterThan(30);
});

test("a call is the probe only if no timer began one; there is no other until it is overdue", () => {
  const outage = new Outage("db:6379", "k", undefined);
  outage.failed(0, undefined);
  const dueMs = outage.restMs(0);
  expect(outage.beginByCall(dueMs + 200, DEADLINE_MS)).toBe(false);
  expect(outage.beginByCall(dueMs + 251, DEADLINE_MS)).toBe(true);
  expect(outage.beginByCall(dueMs + 252, DEADLINE_MS)).toBe(false);
  expect(outage.begin(dueMs + 252, DEADLINE_MS)).toBe(false);
  expect(outage.beginByCall(dueMs + 252 + DEADLINE_MS + 250, DEADLINE_MS)).toBe(true);
});

test("an error without a reason replaces no reason; another reason does", () => {
  const outage = new Outage("db:6379", "k", new Error("the connection closed before the answer"));
  expect(outage.reason).toBe("the connection closed before the answer");
  outage.failed(0, new Error("connect ECONNREFUSED 127.0.0.1:1"));
  expect(outage.reason).toMatch(/nothing accepts connections/);
  outage.failed(0, new Error("Connection is closed."));
  expect(outage.reason).toMatch(/nothing accepts connections/);
  outage.failed(0, new Error("LOADING Redis is loading the dataset in memory"));
  expect(outage.reason).toMatch(/is loading its data/);
});
