import { argumentError } from "../base/errors.ts";
import {
  CountersDoctor,
  type LayoutDiagnosis,
  type RepairOptions,
  type ShardDiagnosis,
  type Store,
} from "../entries/index.ts";
import { openCounters } from "../operate/kinds/counters.ts";
import type { Settings } from "../store/registry/live.ts";
import { openStore } from "./config/open-store.ts";
import type { ServerTyped } from "./config/redis-client.ts";
import { tableLines } from "./live/columns.ts";
import { find, listed } from "./live/find.ts";
import { colorsFor, Output, type Streams, widthOf } from "./output.ts";
import { openSink } from "./sql-sink.ts";
import { jsonLine, safeText, wrapped } from "./text/safe-text.ts";

export interface CountersTyped extends ServerTyped {
  sql: string;
  dimensions?: string;
  addedDimensions?: string;
  buckets?: string;
  timeZone?: string;
  shards?: string;
  table?: string;
  ledgerTable?: string;
  drivers: string;
  inDoubt?: string;
  acceptMissing?: boolean;
  otherIsGone?: boolean;
  setAside?: boolean;
  mendSums?: boolean;
  yes?: boolean;
  json?: boolean;
}

interface Line extends ShardDiagnosis {
  dropped?: bigint;
  aside?: string | undefined;
}

/**
 * Compares the shards of a counter with their table, or repairs them. Resolves to 0 if all match (afterwards), else 1.
 */
export async function counters(what: string, name: string, typed: CountersTyped, streams: Streams): Promise<number> {
  const store = openStore(typed);
  const output = new Output(streams.stdout);
  let close = async () => {};
  try {
    const opened = await openSink(typed.sql, typed);
    close = opened.close;
    const doctor = new CountersDoctor(
      openCounters(store, { name, settings: await settingsOf(store, name, typed) }),
      opened.sink,
    );
    if (what === "doctor" || !typed.yes) {
      const [found, layout] = [await doctor.diagnose({ sums: true }), await doctor.layout()];
      const shown = what === "rebase" ? found.map((one) => withAdvice(one, typed)) : found;
      await output.write(textOf(shown, typed, streams));
      const wrong = found.filter(({ verdict }) => verdict !== "fits").length;
      await output.write(layoutLine(layout, typed, streams));
      const end = `${summary(found.length, wrong)}${what === "rebase" ? DRY : ""}`;
      if (!typed.json) await output.write(prose(end, streams));
      return wrong === 0 && layout.verdict === "fits" ? 0 : 1;
    }
    const repairs = await doctor.repair(repairOptions(typed));
    const lines = repairs.map(({ before, after, isRepaired, dropped, aside }) => {
      const verdict = isRepaired ? after.verdict : before.verdict;
      const shown = isRepaired ? before : withAdvice(before, typed);
      return { ...shown, verdict, dropped, aside, tableGeneration: after.tableGeneration };
    });
    const left = typed.mendSums
      ? []
      : (await doctor.diagnose({ sums: true })).filter(({ verdict }) => verdict === "sum");
    lines.push(...left.map((one) => ({ ...withAdvice(one, typed), dropped: 0n, aside: undefined })));
    await output.write(textOf(lines, typed, streams));
    const repaired = repairs.filter(({ isRepaired }) => isRepaired).length;
    const layout = await doctor.layout();
    await output.write(layoutLine(layout, typed, streams));
    const end = `repaired ${repaired} of ${lines.length} shards that did not match`;
    if (!typed.json) await output.write(prose(end, streams));
    return repaired === lines.length && layout.verdict === "fits" ? 0 : 1;
  } finally {
    await close();
    await store.close();
  }
}

const DRY = "; nothing was changed: --yes repairs";

function summary(shards: number, wrong: number): string {
  return wrong === 0 ? `all ${shards} shards match` : `${wrong} of ${shards} shards do not match; see docs/runbook/`;
}

/** A flag wins over the registry. Without `--dimensions` the counter must be listed. */
async function settingsOf(store: Store, name: string, typed: CountersTyped): Promise<Settings> {
  const { dimensions, addedDimensions, buckets, timeZone, shards } = typed;
  const found = await find(store, name, "Counters", "Counters");
  return {
    ...(dimensions === undefined ? listed(found) : found).settings,
    ...(dimensions !== undefined && { dimensions: dimensions.split(","), addedDimensions: [] }),
    ...(addedDimensions !== undefined && { addedDimensions: addedDimensions.split(",") }),
    ...(buckets !== undefined && { buckets: buckets.split(",") }),
    ...(timeZone !== undefined && { timeZone }),
    ...(shards !== undefined && { shards: Number(shards) }),
  };
}

/** One line: the settings that all processes of the counter must share. */
function layoutLine(found: LayoutDiagnosis, { json }: CountersTyped, streams: Streams): string {
  if (json) return jsonLine(found);
  const { key, layout, verdict, note } = found;
  const what = verdict === "fits" ? (layout ?? "none yet") : `${verdict}: ${note}`;
  return prose(`layout (${safeText(key, 120)}): ${safeText(what, 1000)}`, streams);
}

/** A sentence. In a terminal it goes on below its beginning. */
function prose(text: string, { stdout }: Streams): string {
  const width = widthOf(stdout);
  return (width === undefined ? [text] : wrapped(text, width)).map((line) => `${line}\n`).join("");
}

function repairOptions({ inDoubt, acceptMissing, otherIsGone, setAside, mendSums }: CountersTyped): RepairOptions {
  if (inDoubt !== undefined && inDoubt !== "drop" && inDoubt !== "keep")
    throw argumentError("--in-doubt", inDoubt, "drop or keep");
  return {
    ...(inDoubt !== undefined && { inDoubt }),
    acceptMissing: acceptMissing ?? false,
    otherIsGone: otherIsGone ?? false,
    setAside: setAside ?? false,
    mendSums: mendSums ?? false,
  };
}

function textOf(lines: readonly Line[], { json }: CountersTyped, { stdout }: Streams): string {
  if (json) return lines.map(jsonLine).join("");
  if (lines.length === 0) return "";
  const cells = (of: (line: Line) => unknown) => lines.map((line) => `${of(line)}`);
  const [head = "", ...rows] = tableLines(
    [
      { head: "shard", cells: cells(({ shard }) => shard), rank: 0, isRight: true },
      { head: "verdict", cells: cells(({ verdict }) => verdict), rank: 0 },
      { head: "in Redis", cells: cells(({ storeGeneration }) => storeGeneration), rank: 2, isRight: true },
      { head: "in the table", cells: cells(({ tableGeneration }) => tableGeneration), rank: 2, isRight: true },
      { head: "waiting", cells: cells(({ waiting }) => waiting), rank: 3, isRight: true },
      { head: "in doubt", cells: cells(({ inDoubt }) => inDoubt), rank: 4, isRight: true },
      { head: "note", cells: cells(noteOf), rank: 1, minWidth: 12 },
    ],
    widthOf(stdout),
  );
  return [colorsFor(stdout).bold(head), ...rows].map((line) => `${line}\n`).join("");
}

/** The same, with a note of the option that its repair needs and that was not given. */
function withAdvice(found: ShardDiagnosis, typed: CountersTyped): ShardDiagnosis {
  const missing = missingOption(found, typed);
  return missing === undefined
    ? found
    : { ...found, note: [found.note, `needs ${missing}`].filter(Boolean).join("; ") };
}

/** Notes of shards that no option repairs: the ledger's row is damaged, or the shard is intact and newer. */
const NOT_BY_OPTION = /^its |: pass its added dimensions$/;

function missingOption({ verdict, inDoubt, note }: ShardDiagnosis, typed: CountersTyped): string | undefined {
  if (verdict === "set-back" && inDoubt > 0 && typed.inDoubt === undefined) return "--in-doubt drop or --in-doubt keep";
  if (verdict === "table-behind" && !typed.acceptMissing) return "--accept-missing";
  if (verdict === "other-counter" && !typed.otherIsGone) return "--other-is-gone, if the other one is no more";
  if (verdict === "sum" && !typed.mendSums) return "--mend-sums";
  const isAside = (verdict === "damaged" || verdict === "other-layout") && !NOT_BY_OPTION.test(note);
  return isAside && !typed.setAside ? "--set-aside" : undefined;
}

function noteOf({ note, aside, dropped }: Line): string {
  return [note, aside && `set aside as ${aside}`, dropped && `${dropped} left out`].filter(Boolean).join("; ");
}
