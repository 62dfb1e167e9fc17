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

/** Runs the same work on the same data in every runtime. The runtimes take turns. Different answers are an error. */
export async function benchRuntimes({ works, turns, starts }: RuntimesOptions): Promise<Report> {
  const report: Report = {
    bench: "runtimes",
    title: "The same work in each runtime",
    rows: [],
    notes: [
      "ms is the time of one run, median over turns. The runtimes take turns. timesNode is how many times faster it is than this Node, median of the turns' ratios. The first turn, which includes compilation, is left out.",
      "The clock of workerd stands still while it computes, so it is timed from outside, minus the time of an empty request.",
      'The line "start and first answer" is the time that the entry adds to an empty process, from its start to its end. In workerd it ends with the first response. In Chromium it is measured in a new page. Medians.',
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
