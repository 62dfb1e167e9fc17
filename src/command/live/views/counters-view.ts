import { Counters } from "../../../entries/index.ts";
import { instant } from "../../../operate/format.ts";
import { listedCounters } from "../counters-settings.ts";
import { settingsText } from "../settings-text.ts";
import { nothingToClose, type OpenView } from "./view.ts";

const SHOWN_ROWS = 10;

/** The counts that are still in Redis. A read transfers all of them, so the overview shows the settings instead. */
export const countersView: OpenView = (store, found, { isOverview }) => {
  const options = listedCounters(found);
  const overview = { state: settingsText(found.structure!.settings) };
  if (isOverview) return { read: async () => ({ facts: [], json: {}, overview }), close: nothingToClose };
  const counters = new Counters(store, found.name, options);
  return {
    async read() {
      const rows = await counters.read({ bigint: true });
      const total = rows.reduce((sum, { count }) => sum + count, 0n);
      const lastMs = rows.reduce((last, { startMs }) => Math.max(last, startMs), Number.NEGATIVE_INFINITY);
      const latest = rows.filter(({ startMs }) => startMs === lastMs);
      const largest = latest.sort((a, b) => (a.count > b.count ? -1 : a.count < b.count ? 1 : 0)).slice(0, SHOWN_ROWS);
      const bucket = counters.shape.buckets[0]!;
      const start = rows.length === 0 ? "-" : instant(lastMs);
      return {
        facts: [
          ["events in Redis", `${total}`],
          ["rows in Redis", `${rows.length}`],
          [`latest ${bucket}`, start],
        ],
        ...(largest.length > 0 && {
          table: [
            ...counters.shape.dimensions.map((head) => ({
              head,
              cells: largest.map(({ values }) => values[head]!),
              rank: 0,
              minWidth: 8,
            })),
            { head: "count", cells: largest.map(({ count }) => `${count}`), rank: 0, isRight: true },
          ],
        }),
        json: { events: `${total}`, rows: rows.length, bucket, startMs: rows.length === 0 ? null : lastMs, largest },
        overview,
      };
    },
    close: () => counters.close(),
  };
};
