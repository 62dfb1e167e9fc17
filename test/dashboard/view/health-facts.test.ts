import { expect, test } from "vitest";
import type { HealthEntry } from "../../../src/operate/dashboard/protocol.ts";
import { healthFacts } from "../../../src/operate/doctor/health/health-facts.ts";

const NODE = { server: "Redis 7.2.4", usedBytes: 1 << 20, maxBytes: null, eviction: "noeviction" };

function persistenceOf(...texts: string[]) {
  const health: HealthEntry = {
    ...{ state: "up", sinceMs: 0, reason: null, address: "127.0.0.1:6379", latencyMs: 1, offsetMs: 0 },
    nodes: texts.map((persistence) => ({ ...NODE, persistence })),
  };
  const { text, level, hint = "" } = healthFacts(health).find(({ label }) => label === "Persistence")!;
  return { text, level, hint };
}

test("a failing append-only file has a hint of its own, and not that it should be on", () => {
  const { text, level, hint } = persistenceOf("append-only file, failing");
  expect([text, level]).toEqual(["append-only file, failing", "bad"]);
  expect(hint).toContain("Look at the disk");
  expect(hint).not.toContain("appendonly");
});

test("the hint of snapshots says what is lost, or that they fail", () => {
  expect(persistenceOf("snapshots or none").hint).toContain("appendonly should be yes");
  expect(persistenceOf("snapshots, failing").hint).toContain("The last snapshot failed");
  expect(persistenceOf("append-only file")).toEqual({ text: "append-only file", level: "good", hint: "" });
});

test("of several nodes the worst is shown", () => {
  const nodes = ["append-only file", "snapshots or none", "append-only file, failing"];
  expect(persistenceOf(...nodes).text).toBe("append-only file, failing");
  expect(persistenceOf(...nodes.slice(0, 2)).text).toBe("snapshots or none");
  expect(persistenceOf("snapshots or none", "snapshots, failing").text).toBe("snapshots, failing");
});
