import type { GroupRows, WindowStats } from "../../../src/entries/index.ts";
import { redisStore, Series, SeriesGroup } from "../../../src/entries/index.ts";
import { GROUPS, groupOf, METHODS, type P99s, ROUTE, ROUTE_NAMES, type RowsBy } from "../../groups/calls.ts";
import { type GroupsAnswer, type GroupsRival, timed } from "./contract.ts";

const SETTINGS = { retention: "1h" } as const;
const LABELS = ["route", "method"] as const;
const QUESTION = { span: "1h", percentiles: [99] } as const;
const NO_REGISTRY = { registry: false, deadline: "30s" } as const;

/** All events in one `SeriesGroup`. */
export const seriesGroup: GroupsRival = {
  name: "oriel SeriesGroup",
  isInRedis: true,
  missing: () => undefined,
  async open(calls, redisUrl, name) {
    const store = redisStore(redisUrl, NO_REGISTRY);
    const open = () => new SeriesGroup(store, name, { labels: LABELS, ...SETTINGS });
    const writer = open();
    const rows = ["route", "group"] as const;
    return {
      record: (from, to) =>
        recorded(from, to, (i) =>
          writer.record(calls.values[i]!, {
            route: ROUTE_NAMES[calls.routes[i]!]!,
            method: METHODS[calls.methods[i]!]!,
          }),
        ),
      asks: [
        { name: "oriel SeriesGroup, with a copy", rows, ask: (by) => askRows(writer, by) },
        {
          name: "oriel SeriesGroup, without a copy",
          rows,
          ask: (by) => askNew([open()], ([its]) => askRows(its!, by)),
        },
      ],
      async close() {
        await writer.close();
        await store.close();
      },
    };
  },
};

/** All events in one `Series`, which forgets their groups. It only records. */
export const oneSeries: GroupsRival = {
  name: "oriel Series, without groups",
  isInRedis: true,
  missing: () => undefined,
  async open({ values }, redisUrl, name) {
    const store = redisStore(redisUrl, NO_REGISTRY);
    const series = new Series(store, name, SETTINGS);
    return {
      record: (from, to) => recorded(from, to, (i) => series.record(values[i]!)),
      asks: [],
      async close() {
        await series.close();
        await store.close();
      },
    };
  },
};

/** A `Series` for each group. It cannot answer for unions of groups. */
export const seriesEach: GroupsRival = {
  name: "oriel Series, one for each group",
  isInRedis: true,
  missing: () => undefined,
  async open(calls, redisUrl, name) {
    const store = redisStore(redisUrl, NO_REGISTRY);
    const open = () => Array.from({ length: GROUPS }, (_, group) => new Series(store, `${name} ${group}`, SETTINGS));
    const writers = open();
    const rows = ["group"] as const;
    return {
      record: (from, to) => recorded(from, to, (i) => writers[groupOf(calls, i)]!.record(calls.values[i]!)),
      asks: [
        { name: "oriel Series, one for each group, with a copy", rows, ask: () => askEach(writers) },
        { name: "oriel Series, one for each group, without a copy", rows, ask: () => askNew(open(), askEach) },
      ],
      async close() {
        await Promise.all(writers.map((each) => each.close()));
        await store.close();
      },
    };
  },
};

async function recorded(from: number, to: number, record: (i: number) => Promise<unknown>): Promise<void> {
  await Promise.all(Array.from({ length: to - from }, (_, i) => record(from + i)));
}

/** Asks new objects, which have no copy, and closes them. */
async function askNew<T extends { close(): Promise<void> }>(opened: T[], ask: (opened: T[]) => Promise<GroupsAnswer>) {
  const answer = await ask(opened);
  await Promise.all(opened.map((each) => each.close()));
  return answer;
}

function askRows(group: SeriesGroup<typeof LABELS>, by: RowsBy): Promise<GroupsAnswer> {
  const question = { ...QUESTION, by: by === "route" ? (["route"] as const) : LABELS };
  return timed<GroupRows<string, 99>>(
    () => group.stats(question),
    ({ rows }) => new Map(rows.map(({ labels, percentiles }) => [rowOf(labels, by), percentiles[99]])),
  );
}

function rowOf({ route, method }: Readonly<Record<string, string>>, by: RowsBy): number {
  const number = Number(route!.slice(ROUTE.length));
  return by === "route" ? number : number * METHODS.length + METHODS.indexOf(method as "GET");
}

function askEach(series: Series[]): Promise<GroupsAnswer> {
  return timed<WindowStats<99>[]>(() => Promise.all(series.map((each) => each.stats(QUESTION))), p99sOfEach);
}

function p99sOfEach(answers: WindowStats<99>[]): P99s {
  return new Map(
    answers.flatMap(({ count, percentiles }, group) => (count > 0 ? [[group, percentiles[99]] as const] : [])),
  );
}
