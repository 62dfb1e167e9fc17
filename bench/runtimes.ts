import { median } from "./runner/measure.ts";
import type { Report } from "./runner/report.ts";
import { firstAnswers } from "./runtimes/first-answer.ts";
import { type Done, openHosts } from "./runtimes/hosts.ts";

export interface RuntimesOptions {
  /** Size and runs of each work in a turn. */
  works: Record<string, [size: number, runs: number]>;
  turns: number;
  starts: number;
}

export const FULL_RUNTIMES: RuntimesOptions = {
  works: { stats: [1_000_000, 20], percentile: [10_000, 2000], limiter: [20_000, 3], series: [100_000, 3] },
  turns: 7,
  starts: 11,
};
export const SMALL_RUNTIMES: RuntimesOptions = {
  works: { stats: [1000, 1], percentile: [100, 1], limiter: [100, 1], series: [100, 1] },
  turns: 1,
  starts: 1,
};

/** The same work on the same data in every runtime, all in turn; answers that differ are an error. */
export async function benchRuntimes({ works, turns, starts }: RuntimesOptions): Promise<Report> {
  const report: Report = {
    bench: "runtimes",
    title: "The same work in each runtime",
    rows: [],
    notes: [
      "ms: of one run, median over turns that all take in turn. timesNode: how many times faster than this Node, median of the turns' ratios; the first turn is the compiler's.",
      "workerd's clock stands still while it computes: it is timed from outside, less a request that computes nothing.",
      "start and first answer: what the entry adds to a process that does nothing, from its start to its end (workerd: to the first response; Chromium: in a new page); median.",
    ],
  };
  const hosts = await openHosts();
  try {
    for (const [what, [size, runs]] of Object.entries(works)) {
      const done = new Map(hosts.map(({ name }) => [name, [] as Done[]]));
      for (let turn = 0; turn <= turns; turn++)
        for (const host of hosts) done.get(host.name)!.push(await host.run(what, size, runs));
      const [node] = [...done.values()] as [Done[]];
      for (const [runtime, each] of done) {
        const differing = each.find(({ hash }, turn) => hash !== node[turn]!.hash);
        if (differing) throw new Error(`${what} in ${runtime}: ${differing.hash}, not ${node[0]!.hash} as in Node`);
        const later = each.slice(1);
        report.rows.push({
          what: `${what}, ${size.toLocaleString("en-US")}`,
          runtime,
          kernel: each[0]!.kernel,
          ms: median(later.map(({ ms }) => ms / runs)),
          timesNode: median(later.map(({ ms }, turn) => node[turn + 1]!.ms / ms)),
        });
      }
    }
  } finally {
    await Promise.all(hosts.map((host) => host.close()));
  }
  report.rows.push(...(await firstAnswers(starts)));
  return report;
}
