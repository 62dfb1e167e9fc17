import { argumentError, OrielError } from "../../base/errors.ts";
import { Counters, targetOf } from "../../counters/counter/counters.ts";
import type { CountersOptions } from "../../counters/counter/options.ts";
import type { ReadTarget } from "../../counters/counter/read.ts";
import { type Look, look } from "../../counters/counter/steps/reads.ts";
import type { LedgerRow } from "../../counters/counter/table.ts";
import { diagnose, type ShardDiagnosis } from "../../counters/drain/diagnosis.ts";
import { CountersDoctor } from "../../counters/drain/doctor.ts";
import type { CountersPart } from "../dashboard/parts.ts";
import type { Kind } from "./kind.ts";
import type { Described, Identified, Open, Scope } from "./scope.ts";

/** Its constructor checks the settings. `replicas` is left out, since a reader writes nothing. */
export const openCounters: Open<Counters> = (store, { name, settings }) => {
  const { dimensions, addedDimensions, buckets, timeZone, shards } = settings as unknown as CountersOptions;
  return new Counters(store, name, { dimensions, addedDimensions, buckets, timeZone, shards });
};

/** Counters: the counts that wait for their table, and with a sink whether both match. An operator may rebase shards. */
export const countersKind: Kind = {
  open: openCounters,
  columns: ["lag"],
  async numbers(scope, structure) {
    const target = targetOf(countersOf(scope, structure));
    const [looks, nowMs] = await Promise.all([looksAt(target), scope.nowMs()]);
    const alone = looks.map((each, shard) => alonePart(target, each, shard));
    const lags = looks.flatMap((each) => lagMsOf(each, nowMs) ?? []);
    const isEmpty = alone.every(({ waiting }) => waiting === 0n);
    const verdicts = (await recentVerdicts(scope, structure)) ?? alone;
    const count = (isOf: (verdict: string) => boolean) => verdicts.filter(({ verdict }) => isOf(verdict)).length;
    const damaged = count(isUnreadable);
    const diverged = count((verdict) => !isUnreadable(verdict) && verdict !== "fits" && verdict !== "unknown");
    const states = [...(damaged > 0 ? [`${damaged} damaged`] : []), ...(diverged > 0 ? [`${diverged} diverged`] : [])];
    // Without a drain nobody knows since when the counts wait.
    const lag = lags.length > 0 ? Math.max(...lags) : isEmpty ? 0 : null;
    const isBad = states.length > 0;
    return { lag, state: states.join(", "), isBad, ...(isBad && { advice: "see oriel counters doctor" }) };
  },
  parts: {
    async shards(scope, structure) {
      const counters = countersOf(scope, structure);
      const target = targetOf(counters);
      const sink = sinkOf(scope, structure);
      const [looks, nowMs] = await Promise.all([looksAt(target), scope.nowMs()]);
      const verdicts = sink && (await new CountersDoctor(counters, sink).diagnose());
      const ledger = sink && new Map((await sink.ledger(target.shape)).map((row) => [row.shard, row]));
      const alone = looks.map((each, shard) => alonePart(target, each, shard));
      const shards = looks.map((each, shard) => {
        const { verdict, inDoubt, note } = verdicts?.[shard] ?? alone[shard]!;
        const { storeGeneration: generation, waiting } = alone[shard]!;
        return {
          ...{ shard, generation, waiting: `${waiting}`, lagMs: lagMsOf(each, nowMs) },
          ...{ verdict: verdict === "unknown" ? null : verdict, inDoubt: `${inDoubt}`, note },
        };
      });
      const waiting = alone.reduce((sum, each) => sum + each.waiting, 0n);
      const total = verdicts && ledger ? totalOf(looks, verdicts, alone, ledger) : undefined;
      const body = {
        nowMs,
        waiting: `${waiting}`,
        total: total === undefined ? null : `${total}`,
        hasSink: !!sink,
        shards,
      };
      return { body: body satisfies CountersPart };
    },
  },
  actions: {
    async rebase(scope, structure, query) {
      const sink = sinkOf(scope, structure);
      if (!sink)
        throw new OrielError(
          "ARGUMENT",
          "the dashboard has no sink of this counter; pass it in sinks, or use oriel counters rebase",
        );
      const inDoubt = query.get("target") ?? "";
      if (inDoubt !== "drop" && inDoubt !== "keep") throw argumentError("target", inDoubt, "drop or keep");
      const repairs = await new CountersDoctor(countersOf(scope, structure), sink).repair({ inDoubt });
      const repaired = repairs.filter(({ isRepaired }) => isRepaired).length;
      if (repairs.length === 0) throw new OrielError("ARGUMENT", "all shards match their table, so none was rebased");
      if (repaired === 0)
        throw new OrielError(
          "ARGUMENT",
          `no shard could be rebased: ${repairs[0]!.before.verdict}; oriel counters rebase has more options`,
        );
      const dropped = repairs.reduce((sum, each) => sum + each.dropped, 0n);
      return { target: `${repaired} of ${repairs.length} shards that did not match, ${dropped} events dropped` };
    },
  },
};

function sinkOf({ settings }: Scope, { name }: Described) {
  return settings.sinkOf(name);
}

export function countersOf(scope: Scope, structure: Identified): Counters {
  return scope.opened(structure, openCounters, (counters) => counters.close());
}

/** The state of a shard without its ledger. Only a shard that cannot be read is known not to match. */
function alonePart({ keys, layout }: ReadTarget, seen: Look, shard: number) {
  const found = diagnose({ shard, key: keys[shard]!, look: seen, ledger: undefined }, layout);
  return { ...found, inDoubt: 0n, verdict: isUnreadable(found.verdict) ? found.verdict : ("unknown" as const) };
}

function isUnreadable(verdict: string): boolean {
  return verdict === "damaged" || verdict === "other-layout";
}

function looksAt({ keys, store }: ReadTarget): Promise<Look[]> {
  return Promise.all(keys.map((key) => store.run(look, key, null)));
}

/** The overview asks each database at most this often. */
const VERDICTS_MS = 10_000;
const recent = new WeakMap<Counters, { readMs: number; verdicts: Promise<ShardDiagnosis[]> }>();

/** The shards compared with their table, at most 10 s ago. Undefined without a sink. */
function recentVerdicts(scope: Scope, structure: Identified): Promise<ShardDiagnosis[]> | undefined {
  const sink = sinkOf(scope, structure);
  if (!sink) return undefined;
  const counters = countersOf(scope, structure);
  const nowMs = scope.store.monotonic();
  const known = recent.get(counters);
  if (known && nowMs - known.readMs < VERDICTS_MS) return known.verdicts;
  const verdicts = new CountersDoctor(counters, sink).diagnose();
  recent.set(counters, { readMs: nowMs, verdicts });
  return verdicts;
}

/** How long the first generation has been frozen, by the time in its nonce (lua/counter/freeze.lua). */
function lagMsOf({ generations }: Look, nowMs: number): number | null {
  const [, frozenMs] = /-(\d+)(?:-b[0-9a-f]+)?$/.exec(generations[0]?.nonce ?? "") ?? [];
  return frozenMs === undefined ? null : Math.max(0, nowMs - Number(frozenMs));
}

/** All events that were ever counted. Undefined if a shard was drained between the reads. */
function totalOf(
  looks: readonly Look[],
  verdicts: readonly ShardDiagnosis[],
  alone: readonly { storeGeneration: number; waiting: bigint }[],
  ledger: ReadonlyMap<number, LedgerRow>,
): bigint | undefined {
  let total = 0n;
  for (const [shard, { storeGeneration, tableGeneration, verdict }] of verdicts.entries()) {
    const row = ledger.get(shard);
    if (verdict !== "fits" || alone[shard]!.storeGeneration !== storeGeneration) return undefined;
    if ((row?.generation ?? 0) !== tableGeneration) return undefined;
    // The first generation may be in the table before the store has acknowledged it.
    const inBoth = tableGeneration > storeGeneration ? BigInt(looks[shard]!.generations[0]?.sum ?? 0) : 0n;
    total += (row?.events ?? 0n) + alone[shard]!.waiting - inBoth;
  }
  return total;
}
