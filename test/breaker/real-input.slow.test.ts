import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { Breaker, type BreakerOptions } from "../../src/entries/index.ts";
import { dataFolders } from "../data/folders.ts";

const [LATENCY, REQUESTS] = ["ec2_request_latency_system_failure.csv", "elb_request_count_8c0756.csv"];

interface Row {
  atMs: number;
  value: number;
}

function rowsOf(path: string): Row[] {
  const lines = readFileSync(path, "utf8").trim().split("\n").slice(1);
  return lines.map((line) => {
    const [time = "", value] = line.split(",");
    return { atMs: Date.parse(`${time.replace(" ", "T")}Z`), value: Number(value) };
  });
}

interface Call {
  endMs: number;
  isBad: boolean;
  isSlow: boolean;
}

/** The first call with which the window of those before it and itself has more than `ratio` of what `is` says. */
function bruteForce(calls: readonly Call[], spanMs: number, least: number, ratio: number, is: (call: Call) => boolean) {
  return calls.findIndex(({ endMs }, i) => {
    const window = calls.slice(0, i + 1).filter((each) => each.endMs > endMs - spanMs);
    return window.length >= least && window.filter(is).length > ratio * window.length;
  });
}

/** Plays calls, each from its begin to its end, until one is rejected; the number of the one that opened the circuit. */
async function opensAt(calls: readonly Call[], options: Omit<BreakerOptions, "span">, spanMs: number): Promise<number> {
  const clock = { nowMs: 0 };
  const breaker = new Breaker("local", { span: spanMs, ...options, monotonic: () => clock.nowMs } as BreakerOptions);
  for (const [i, { endMs, isBad, isSlow }] of calls.entries()) {
    clock.nowMs = endMs - (isSlow ? 61 : 40);
    const work = () => {
      clock.nowMs = endMs;
      if (isBad) throw new Error("bad");
    };
    await breaker.run(work).catch(() => {});
    if (breaker.stats().state !== "closed") return i;
  }
  return -1;
}

/** When each rule opens: in the outage, and at the second row of the peak. */
const OPENS = {
  real: { failed: "2014-03-21T03:31:00.000Z", slow: "2014-03-18T22:41:00.000Z" },
  generated: { failed: "2025-03-21T02:51:00.000Z", slow: "2025-03-18T22:16:00.000Z" },
};

describe.each(dataFolders)("$name request latencies that end in an outage", ({ name, folder }) => {
  const rows = rowsOf(folder + LATENCY);
  /** Outside of what the service did for two weeks. */
  const calls = rows.map(({ atMs, value }) => ({ endMs: atMs, isBad: value > 60 || value < 27, isSlow: value > 60 }));

  const HOUR_MS = 3_600_000;

  /** Five minutes a row: an hour has twelve calls, of which the peak makes two bad. */
  test.each([
    ["failed", 0.17],
    ["slow", 0.16],
  ] as const)("opens at the same call as brute force if the share of calls %s is above %d", async (what, ratio) => {
    const is = ({ isBad, isSlow }: Call) => (what === "failed" ? isBad : isSlow);
    const rule = what === "failed" ? { failureRatio: ratio } : { slowRatio: ratio, slowCall: 60 };
    const brute = bruteForce(calls, HOUR_MS, 4, ratio, is);
    expect(await opensAt(calls, { ...rule, minimumCalls: 4 }, HOUR_MS)).toBe(brute);
    expect(new Date(calls[brute]!.endMs).toISOString()).toBe(OPENS[name][what]);
  });
});

describe.each(dataFolders)("$name requests of a load balancer", ({ folder }) => {
  test("requests as calls with one failure in forty, then an outage: it opens at the same call as brute force", async () => {
    const rows = rowsOf(folder + REQUESTS).slice(0, 400);
    const outage = 300;
    let seed = 7;
    const random = () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return seed / 2 ** 31;
    };
    const calls = rows.flatMap(({ atMs, value }, i) =>
      Array.from({ length: value }, (_, call) => {
        const isBad = random() < (i >= outage ? 0.7 : 0.025);
        return { endMs: atMs + Math.floor((call * 300_000) / value), isBad, isSlow: false };
      }),
    );
    const first = rows.slice(0, outage).reduce((sum, { value }) => sum + value, 0);
    const SPAN_MS = 1_200_000;
    const brute = bruteForce(calls, SPAN_MS, 20, 0.3, ({ isBad }) => isBad);
    expect(brute).toBeGreaterThan(first);
    expect(brute).toBeLessThan(first + 500);
    expect(await opensAt(calls, { failureRatio: 0.3, minimumCalls: 20 }, SPAN_MS)).toBe(brute);
  });
});
