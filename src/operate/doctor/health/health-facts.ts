import { age, bytes, number } from "../../format.ts";
import type { NodeHealth, StoreHealth } from "./store-health.ts";

export type Level = "good" | "warn" | "bad";

interface Fact {
  label: string;
  text: string;
  level: Level;
  hint?: string;
}

/** A store's default deadline leaves a third of a second for each attempt of a call. */
export const SLOW_MS = 150;
/** Above this offset, times that a program passes miss the events that they mean. */
export const FAR_MS = 1000;
/** A server with less free memory than this part of `maxmemory` soon refuses writes. */
export const NEARLY_FULL = 0.9;

/** The facts of the page's strip and of the line in `oriel top`: reachability, round trip, clock, and the worst of the nodes. */
export function healthFacts({ state, address, latencyMs, offsetMs, nodes }: StoreHealth): Fact[] {
  const isUp = state === "up";
  const facts: Fact[] = [
    {
      label: address ?? "Store",
      text: isUp ? "up" : "down",
      level: isUp ? "good" : "bad",
      hint: nodes[0]?.server ?? "",
    },
  ];
  if (latencyMs !== null)
    facts.push({
      label: "Round trip",
      text: `${number(latencyMs)} ms`,
      level: latencyMs > SLOW_MS ? "warn" : "good",
    });
  if (offsetMs !== null) facts.push(clockFact(offsetMs));
  const memory = nodes.map(memoryFact).sort((a, b) => Number(b.level === "warn") - Number(a.level === "warn"))[0];
  if (memory) facts.push(memory);
  const evicting = nodes.find(({ eviction }) => eviction !== null && eviction !== "noeviction") ?? nodes[0];
  if (evicting?.eviction)
    facts.push(
      evicting.eviction === "noeviction"
        ? { label: "Eviction", text: "off", level: "good" }
        : {
            label: "Eviction",
            text: evicting.eviction,
            level: "warn",
            hint: "Redis may evict keys, and events with them. maxmemory-policy should be noeviction.",
          },
    );
  const persistences = nodes.flatMap(({ persistence }) => persistence ?? []).map(persistenceFact);
  const worst = persistences.sort((a, b) => b.badness - a.badness)[0];
  if (worst) facts.push(worst.fact);
  return facts;
}

function clockFact(offsetMs: number): Fact {
  const isFar = Math.abs(offsetMs) > FAR_MS;
  const side = offsetMs < 0 ? "behind" : "ahead";
  const text = Math.abs(offsetMs) <= 2 ? "in step" : `${age(Math.abs(offsetMs))} ${side}`;
  return {
    label: "Clock",
    text,
    level: isFar ? "warn" : "good",
    hint: "The server's clock, against the clock of the dashboard.",
  };
}

function memoryFact({ usedBytes, maxBytes }: NodeHealth): Fact {
  if (maxBytes === null) return { label: "Memory", text: `${bytes(usedBytes)}, no limit`, level: "good" };
  const isFull = (usedBytes ?? 0) > maxBytes * NEARLY_FULL;
  return {
    label: "Memory",
    text: `${bytes(usedBytes)} of ${bytes(maxBytes)}`,
    level: isFull ? "warn" : "good",
    hint: isFull ? "A full server refuses writes." : "",
  };
}

/** The texts are those of `oriel doctor`. */
function persistenceFact(text: string): { badness: number; fact: Fact } {
  const label = "Persistence";
  if (text === "append-only file") return { badness: 0, fact: { label, text, level: "good" } };
  const toDo = "Look at the disk and at the server's log.";
  const hint = {
    "append-only file, failing": `The last write of the append-only file failed, and the server may refuse writes (MISCONF). ${toDo}`,
    "snapshots, failing": `The last snapshot failed, and the server may refuse writes (MISCONF). ${toDo}`,
  }[text];
  if (hint !== undefined) return { badness: 2, fact: { label, text, level: "bad", hint } };
  const loss = "A restart of Redis loses what came after its last snapshot. appendonly should be yes.";
  return { badness: 1, fact: { label, text, level: "warn", hint: loss } };
}
