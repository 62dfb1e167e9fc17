import { type Measured, show } from "../runner/report.ts";
import { type Constants, constantsOf } from "./constants.ts";
import { BOUNDS, choose, type Design, endOf, type Need, type Point, ROUND_TRIP_MS } from "./model.ts";
import { cheapest, PRICE_LISTS } from "./prices.ts";

type Cells = readonly (readonly string[])[];

const SECOND_MS = 1000;
const DAY_MS = 86_400_000;
const WINDOWS: Readonly<Record<string, number>> = {
  minute: 60 * SECOND_MS,
  hour: 3600 * SECOND_MS,
  day: DAY_MS,
  month: 30 * DAY_MS,
};
/** Events a second, and the processes that record them. */
const LOADS = [
  [10, 1],
  [10, 10],
  [1000, 10],
  [10_000, 100],
  [100_000, 100],
  [100_000, 1000],
  [1_000_000, 1000],
  [1_000_000, 10_000],
  [10_000_000, 10_000],
  [100_000_000, 10_000],
  [100_000_000, 1000],
] as const;
const ASKERS = 10;

/** The tables of docs/understand/scale.md by the names of their blocks: the heading, then the rows. */
export const SCALE_TABLES: Readonly<Record<string, (measured: Constants) => Cells>> = {
  "scale-choice": choices,
  "scale-costs": costs,
  "scale-windows": windows,
  "scale-ends": ends,
  "scale-bounds": bounds,
  "scale-prices": prices,
  "scale-constants": constants,
};

/** Undefined if the run lacks rows that the model needs. */
export function scaleTable(name: string, run: Measured): Cells | undefined {
  let measured: Constants;
  try {
    measured = constantsOf(run);
  } catch {
    return undefined;
  }
  return SCALE_TABLES[name]!(measured);
}

function needOf(eventsPerSecond: number, processes: number, window: string): Need {
  return { eventsPerSecond, processes, windowMs: WINDOWS[window]!, askers: Math.min(ASKERS, processes) };
}

/** The design for each load, for windows of an hour. */
function choices(measured: Constants): Cells {
  const rows = LOADS.map(([events, processes]) => {
    const chosen = choose(needOf(events, processes, "hour"), measured);
    const load = [show(events), show(processes)];
    if (!chosen) return [...load, "none holds", "", ""];
    const { asks, everyMs } = chosen.point;
    return [...load, fullNameOf(chosen.design), asks, timeOf(everyMs)];
  });
  return [["events a second", "processes", "choose", "ask for", "once in"], ...rows];
}

/** The costs of these designs. */
function costs(measured: Constants): Cells {
  const heading = ["events a second", "processes", "memory of Redis", "commands a second", "cores of Redis"];
  const more = ["network of Redis a second", "an asker answers from", "its memory"];
  const monthly = PRICE_LISTS.map(({ provider, currency }) => `${provider}, ${currency} a month`);
  const rows = LOADS.map(([events, processes]) => {
    const chosen = choose(needOf(events, processes, "hour"), measured);
    const load = [show(events), show(processes)];
    if (!chosen) return [...load, "none holds"];
    const { design, cost } = chosen;
    const isLocal = design.structure === "LocalSeries";
    const network = cost.receivedBytes + cost.sentBytes;
    return [
      ...load,
      ...(isLocal
        ? ["", "", "", "", cost.answersFrom]
        : [
            bytesOf(cost.storedBytes),
            show(rounded(cost.commands)),
            show(rounded(cost.serverCores)),
            bytesOf(network),
            cost.answersFrom,
          ]),
      bytesOf(cost.processBytes),
      ...PRICE_LISTS.map((list) => {
        if (isLocal) return "";
        const found = cheapest(list, {
          primaries: design.shards,
          memoryBytes: cost.storedBytes * BOUNDS.memoryTimes,
          cores: cost.busiestCores,
          networkBytesPerSecond: cost.busiestNetworkBytes,
        });
        return found
          ? `${show(rounded(found.monthly))} (${found.count} ${found.offer.name})`
          : "no server is large enough";
      }),
    ];
  });
  return [[...heading, ...more, ...monthly], ...rows];
}

/** The structure for each load and window. */
function windows(measured: Constants): Cells {
  const rows = LOADS.map(([events, processes]) => [
    ...[show(events), show(processes)],
    ...Object.keys(WINDOWS).map((window) => {
      const chosen = choose(needOf(events, processes, window), measured);
      if (!chosen) return "none holds";
      const { design, point, cost } = chosen;
      const asked = `${fullNameOf(design)}; ${askedOf(point)}`;
      return design.structure === "LocalSeries" ? asked : `${asked}; ${bytesOf(cost.storedBytes)}`;
    }),
  ]);
  return [["events a second", "processes", ...Object.keys(WINDOWS)], ...rows];
}

const ENDS: readonly Design[] = [
  { structure: "Series", shards: 1, hasMaxAge: false, gatherMs: 0 },
  { structure: "Series", shards: 1, hasMaxAge: true, gatherMs: 0 },
  { structure: "Series", shards: 1, hasMaxAge: true, gatherMs: 1000 },
  { structure: "ShardedSeries", shards: 8, hasMaxAge: false, gatherMs: 1000 },
  { structure: "ShardedSeries", shards: 64, hasMaxAge: false, gatherMs: 0 },
  { structure: "ShardedSeries", shards: 64, hasMaxAge: false, gatherMs: 1000 },
];

/** Processes, and those of them that ask. */
const FLEETS = [
  [10, 10],
  [100, 10],
  [1000, 10],
  [10_000, 10],
  [100, 100],
  [1000, 1000],
  [10_000, 10_000],
] as const;

/** The most events a second, and what ends it, for the percentiles of a minute, asked once a second. */
function ends(measured: Constants): Cells {
  const end = (processes: number, askers: number, design: Design) => {
    const need = { processes, askers, windowMs: WINDOWS.minute!, everyMs: SECOND_MS, asks: "percentiles" as const };
    const { eventsPerSecond, bound } = endOf(need, design, measured);
    return `${eventsPerSecond === 0 ? "at none" : show(eventsPerSecond)}: ${bound}`;
  };
  const rows = ENDS.map((design) => [
    fullNameOf(design),
    ...FLEETS.map(([processes, askers]) => end(processes, askers, design)),
  ]);
  const heads = FLEETS.map(([processes, askers]) => `${show(processes)} processes, ${show(askers)} ask`);
  return [["design", ...heads], ...rows];
}

function bounds(): Cells {
  return [
    ["what", "bound"],
    ["CPU of a primary", `${show(100 * BOUNDS.serverCores)} % of a core`],
    ["memory of a server", `${bytesOf(BOUNDS.serverBytes)}, ${BOUNDS.memoryTimes} times what is stored`],
    ["network of a server, each way", `${bytesOf(BOUNDS.serverNetworkBytes)} a second`],
    ["CPU of a process, for oriel", `${show(100 * BOUNDS.processCores)} % of a core`],
    ["memory of a process, for oriel", bytesOf(BOUNDS.processBytes)],
    ["network of a process", `${bytesOf(BOUNDS.processNetworkBytes)} a second`],
    ["a round trip", `${ROUND_TRIP_MS} ms`],
  ];
}

function prices(): Cells {
  const rows = PRICE_LISTS.flatMap(({ provider, kind, date, source, currency, offers }) =>
    offers.map(({ name, memoryGiB, networkGbit, primaries, monthly }) => [
      ...[`[${provider}](${source})`, kind, date, name, String(memoryGiB), String(networkGbit), String(primaries)],
      `${monthly.toFixed(2)} ${currency}`,
    ]),
  );
  return [["list", "of", "date", "server", "GiB", "Gbit/s", "primaries", "a month"], ...rows];
}

/** The meaning of each measured number, and the bench that has it. */
const MEANINGS: readonly (readonly [name: keyof Constants, meaning: string, unit: string, bench: string])[] = [
  ["requestUs", "Redis, for a request", "µs of a core", "breakdown"],
  ["eventUs", "Redis, for each event in it", "µs of a core", "shards, less the request"],
  ["sentByteUs", "Redis, for each byte that it sends", "µs of a core", "breakdown, outside scripts"],
  ["shardedTimes", "all servers of shards, against one", "times", "shards"],
  ["busiestTimes", "the busiest of them, against the mean", "times", "shards"],
  ["valueBytes", "an event in an open chunk", "bytes", "sealed"],
  ["frameBytes", "a batch in an open chunk", "bytes", "sealed"],
  ["sealedBytes", "an event in a sealed chunk", "bytes of memory", "sealed"],
  ["roundedSealedBytes", "the same, rounded to 1 us", "bytes of memory", "sealed"],
  ["outlineBytes", "an event, in outlines with percentiles", "bytes", "sealed"],
  ["outlineUs", "the same", "µs of the process", "sealed"],
  ["momentBytes", "an event, in outlines without percentiles", "bytes", "sealed"],
  ["momentUs", "the same", "µs of the process", "sealed"],
  ["requestBytes", "a request without its events", "bytes", "traffic"],
  ["batchReplyBytes", "its reply", "bytes", "traffic"],
  ["aloneCommands", "a request with one event", "commands", "traffic"],
  ["batchCommands", "a request with more", "commands", "traffic"],
  ["questionCommands", "a question to a shard", "commands", "traffic"],
  ["sharedBytes", "a shared answer", "bytes", "traffic"],
  ["processRequestUs", "the process, for a request", "µs of a core", "breakdown"],
  ["processEventUs", "the process, for each event that it records", "µs of a core", "groups"],
  ["ingestUs", "the process, for each event that its copy takes in", "µs of a core", "resident"],
  ["sealUs", "the process, for each event that it seals", "µs of a core", "sealed"],
];

function constants(measured: Constants): Cells {
  return [
    ["what", "number", "unit", "from the bench"],
    ...MEANINGS.map(([name, meaning, unit, bench]) => [meaning, show(measured[name]), unit, bench]),
  ];
}

function nameOf({ structure, shards, hasMaxAge }: Design): string {
  if (structure === "ShardedSeries") return `ShardedSeries, ${shards} shards`;
  return hasMaxAge ? `${structure}, maxAge` : structure;
}

function fullNameOf(design: Design): string {
  return design.gatherMs > 0 ? `${nameOf(design)}, gather ${timeOf(design.gatherMs)}` : nameOf(design);
}

function askedOf({ asks, everyMs }: Point): string {
  return `${asks}, ${timeOf(everyMs)}`;
}

function timeOf(ms: number): string {
  if (ms === 0) return "";
  if (ms < SECOND_MS) return `${ms} ms`;
  const units = [
    [DAY_MS, "d"],
    [3600 * SECOND_MS, "h"],
    [60 * SECOND_MS, "min"],
    [SECOND_MS, "s"],
  ] as const;
  const [unitMs, unit] = units.find(([unitMs]) => ms >= unitMs)!;
  return `${show(rounded(ms / unitMs))} ${unit}`;
}

function bytesOf(bytes: number): string {
  const power = Math.min(4, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  return `${show(rounded(bytes / 1000 ** power))} ${["B", "kB", "MB", "GB", "TB"][power]}`;
}

/** Two digits: a model knows no more. */
function rounded(value: number): number {
  return Number(value.toPrecision(2));
}
