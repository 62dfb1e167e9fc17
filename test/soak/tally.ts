import { median, mib } from "./memory/memory.ts";
import type { SoakOutcome } from "./run.ts";

/** One line about the work and findings of a soak. */
export function tallyOf({ ledger, crew, auditor, keys, server, left, wrong, loadedMs }: SoakOutcome): string {
  const spared = [...crew.held.values()].reduce((longest, held) => (held.length > longest.length ? held : longest));
  const half = spared.length >> 1;
  const [before, after] = [spared.slice(0, half), spared.slice(half)].map((held) =>
    held.length > 0 ? mib(median(held)) : "?",
  );
  const used = server.samples.map(({ bytes }) => bytes);
  return [
    `soak: ${Math.round(loadedMs / 1000)} s, ${wrong.length} wrong`,
    `${ledger.acknowledged} events acknowledged (${Math.round(ledger.acknowledged / (loadedMs / 1000))}/s)`,
    `${ledger.refused} refused, ${ledger.unknown} unknown, ${ledger.judged} seen once by cold reads`,
    `${auditor.reads} cold reads judged, ${crew.compared} windows compared, ${crew.kills} kills`,
    `client ${before} then ${after}, server at most ${mib(Math.max(...used))}`,
    `${keys.keys} keys, ${keys.withoutExpiry} without expiry, ${server.expired} expired`,
    ...(left === undefined ? [] : [`${left} left at the end`]),
  ].join(", ");
}
