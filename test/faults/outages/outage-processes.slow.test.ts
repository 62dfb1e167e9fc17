import { expect, test } from "vitest";
import { startChild } from "../../harness/child.ts";
import { startRedis } from "../../harness/servers/redis-server.ts";
import { clients } from "../../store/contract/clients.ts";

/** As long as no machine lets a process wait for an answer. */
const DEADLINE_MS = 2000;
/** Five seconds as in the field: ORIEL_FREEZE_MS=5000. */
const FREEZE_MS = Number(process.env.ORIEL_FREEZE_MS ?? 3000);
const script = new URL("./outage-child.ts", import.meta.url);

interface Reported {
  of: string;
  event: "down" | "up" | "decision";
  downMs: number;
}

/** The printed lines of a process, by store. */
function reported(lines: readonly string[]): [string, Reported[]][] {
  const byStore = new Map<string, Reported[]>();
  for (const line of lines) {
    const each = JSON.parse(line) as Reported;
    byStore.set(each.of, [...(byStore.get(each.of) ?? []), each]);
  }
  return [...byStore];
}

test("a process that was frozen does not consider a server down that answers", async () => {
  const server = await startRedis({ tcp: true });
  const child = startChild(script, [DEADLINE_MS, server.url]);
  try {
    await child.printed(100);
    child.pause();
    await new Promise((resolve) => setTimeout(resolve, FREEZE_MS));
    const before = child.lines.length;
    child.resume();
    await child.printed(before + 200);
    const stores = reported(child.lines);
    expect(stores.length).toBe(Object.keys(clients).length + 1);
    for (const [of, events] of stores) {
      // A busy machine may not have read the answer in time; then it has soon.
      const ups = events.filter(({ event }) => event === "up");
      for (const { downMs } of ups) expect(downMs, of).toBeLessThan(DEADLINE_MS);
      expect(events.filter(({ event }) => event === "down").length, of).toBe(ups.length);
      expect(events.slice(-10), of).toEqual(Array(10).fill({ of, event: "decision", degraded: false }));
    }
  } finally {
    await child.kill();
    await server.stop();
  }
});
