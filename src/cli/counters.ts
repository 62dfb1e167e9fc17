import Table from "cli-table3";
import {
  Counters,
  CountersDoctor,
  type CountersOptions,
  type LayoutDiagnosis,
  type RepairOptions,
  type ShardDiagnosis,
} from "../entries/index.ts";
import { argumentError } from "../errors.ts";
import { openStore } from "./open-store.ts";
import { Output } from "./output.ts";
import { safeText } from "./row.ts";
import { openSink } from "./sql-sink.ts";
import type { Streams } from "./streams.ts";

export interface CountersTyped {
  redis: string;
  sql: string;
  dimensions: string;
  addedDimensions?: string;
  buckets: string;
  timeZone: string;
  shards: string;
  table?: string;
  ledgerTable?: string;
  drivers: string;
  prefix?: string;
  inDoubt?: string;
  acceptMissing?: boolean;
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
  const store = openStore(typed.redis, typed.prefix);
  const output = new Output(streams.stdout);
  let close = async () => {};
  try {
    const opened = await openSink(typed.sql, typed);
    close = opened.close;
    const doctor = new CountersDoctor(new Counters(store, name, countersOptions(typed)), opened.sink);
    if (what === "doctor" || !typed.yes) {
      const [found, layout] = [await doctor.diagnose(), await doctor.layout()];
      await output.write(textOf(found, typed));
      const wrong = found.filter(({ verdict }) => verdict !== "fits").length;
      await output.write(layoutLine(layout, typed));
      if (!typed.json) await output.write(`${summary(found.length, wrong)}${what === "rebase" ? DRY : ""}\n`);
      return wrong === 0 && layout.verdict === "fits" ? 0 : 1;
    }
    const repairs = await doctor.repair(repairOptions(typed));
    const lines = repairs.map(({ before, after, isRepaired, dropped, aside }) => {
      const verdict = isRepaired ? after.verdict : before.verdict;
      return { ...before, verdict, dropped, aside, tableGeneration: after.tableGeneration };
    });
    await output.write(textOf(lines, typed));
    const repaired = repairs.filter(({ isRepaired }) => isRepaired).length;
    const layout = await doctor.layout();
    await output.write(layoutLine(layout, typed));
    if (!typed.json) await output.write(`repaired ${repaired} of ${repairs.length} shards that did not match\n`);
    return repaired === repairs.length && layout.verdict === "fits" ? 0 : 1;
  } finally {
    await close();
    await store.close();
  }
}

const DRY = "; nothing was changed: --yes repairs";

function summary(shards: number, wrong: number): string {
  return wrong === 0 ? `all ${shards} shards match` : `${wrong} of ${shards} shards do not match; see docs/runbook/`;
}

function countersOptions({ dimensions, addedDimensions, buckets, timeZone, shards }: CountersTyped): CountersOptions {
  const names = buckets.split(",") as NonNullable<CountersOptions["buckets"]>;
  const added = addedDimensions?.split(",") ?? [];
  return {
    dimensions: dimensions.split(","),
    addedDimensions: added,
    buckets: names,
    timeZone,
    shards: Number(shards),
  };
}

/** One line: the settings that all processes of the counter must share. */
function layoutLine(found: LayoutDiagnosis, { json }: CountersTyped): string {
  if (json) return `${JSON.stringify(found)}\n`;
  const { key, layout, verdict, note } = found;
  const what = verdict === "fits" ? (layout ?? "none yet") : `${verdict}: ${note}`;
  return `layout (${safeText(key, 120)}): ${safeText(what, 1000)}\n`;
}

function repairOptions({ inDoubt, acceptMissing, setAside, mendSums }: CountersTyped): RepairOptions {
  if (inDoubt !== undefined && inDoubt !== "drop" && inDoubt !== "keep")
    throw argumentError("--in-doubt", inDoubt, "drop or keep");
  return {
    ...(inDoubt !== undefined && { inDoubt }),
    acceptMissing: acceptMissing ?? false,
    setAside: setAside ?? false,
    mendSums: mendSums ?? false,
  };
}

function textOf(lines: readonly Line[], { json }: CountersTyped): string {
  if (json) return lines.map((line) => `${JSON.stringify(line, (_, value) => plain(value))}\n`).join("");
  if (lines.length === 0) return "";
  const head = ["shard", "verdict", "in Redis", "in the table", "waiting", "in doubt", "note"];
  const table = new Table({ head, style: { head: [], border: [] } });
  for (const { shard, verdict, storeGeneration, tableGeneration, waiting, inDoubt, note, dropped, aside } of lines) {
    const notes = [note, aside && `set aside as ${aside}`, dropped && `${dropped} left out`].filter(Boolean);
    table.push([
      shard,
      verdict,
      storeGeneration,
      tableGeneration,
      `${waiting}`,
      `${inDoubt}`,
      safeText(notes.join("; "), 120),
    ]);
  }
  return `${table.toString()}\n`;
}

function plain(value: unknown): unknown {
  if (typeof value !== "bigint") return value;
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : `${value}`;
}
