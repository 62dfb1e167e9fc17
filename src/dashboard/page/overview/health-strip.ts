import type { HealthEntry, NodeEntry } from "../../protocol.ts";
import { h, setText } from "../dom.ts";
import { bytes, duration, when } from "../format.ts";

type Level = "good" | "warn" | "bad";
interface Fact {
  label: string;
  text: string;
  level?: Level;
  hint?: string;
}

const MARKS: Record<Level, string> = { good: "●", warn: "▲", bad: "■" };
/** As `oriel doctor` judges. */
const SLOW_MS = 150;
const FAR_MS = 1000;
const NEARLY_FULL = 0.9;

/** The state of the store in one line: what an operator looks at first. */
export class HealthStrip {
  readonly element = h("dl", { class: "health", "aria-label": "Store" });
  readonly alert = h("p", { class: "notice bad", role: "alert", hidden: true });

  show(health: HealthEntry): void {
    const facts = factsOf(health);
    const isSame = this.element.children.length === facts.length;
    if (!isSame) this.element.replaceChildren(...facts.map(() => h("div", {}, h("dt"), h("dd"))));
    facts.forEach(({ label, text, level, hint }, i) => {
      const box = this.element.children[i] as HTMLElement;
      const mark = level === undefined ? "" : `${MARKS[level]} `;
      box.className = level ?? "";
      box.title = hint ?? "";
      setText(box.children[0]!, label);
      setText(box.children[1]!, mark + text);
    });
    const isDown = health.state === "down";
    this.alert.hidden = !isDown;
    if (isDown)
      setText(
        this.alert,
        `The store ${health.address ?? ""} has not answered since ${when(health.sinceMs)}: ${health.reason ?? "no reason known"}. The numbers below are the last ones. The page goes on by itself when the store is back.`,
      );
  }

  /** The dashboard's own server answers, though it may refuse. */
  reached(): void {
    this.alert.hidden = true;
  }

  /** The dashboard's own server does not answer. */
  unreached(): void {
    this.alert.hidden = false;
    setText(this.alert, "The dashboard does not answer. The page connects again by itself.");
  }
}

function factsOf({ state, address, latencyMs, offsetMs, nodes }: HealthEntry): Fact[] {
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
      text: `${latencyMs.toFixed(1)} ms`,
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
  const lost = nodes.find(({ persistence }) => persistence?.startsWith("append-only file") === false) ?? nodes[0];
  if (lost?.persistence)
    facts.push({
      label: "Persistence",
      text: lost.persistence,
      level: lost.persistence === "append-only file" ? "good" : "warn",
      hint:
        lost.persistence === "append-only file"
          ? ""
          : "A restart of Redis loses what came after its last snapshot. appendonly should be yes.",
    });
  return facts;
}

function clockFact(offsetMs: number): Fact {
  const isFar = Math.abs(offsetMs) > FAR_MS;
  const side = offsetMs < 0 ? "behind" : "ahead";
  const text = Math.abs(offsetMs) <= 2 ? "in step" : `${duration(Math.abs(offsetMs))} ${side}`;
  return {
    label: "Clock",
    text,
    level: isFar ? "warn" : "good",
    hint: "The server's clock, against the clock of the dashboard.",
  };
}

function memoryFact({ usedBytes, maxBytes }: NodeEntry): Fact {
  if (maxBytes === null) return { label: "Memory", text: `${bytes(usedBytes)}, no limit`, level: "good" };
  const isFull = (usedBytes ?? 0) > maxBytes * NEARLY_FULL;
  return {
    label: "Memory",
    text: `${bytes(usedBytes)} of ${bytes(maxBytes)}`,
    level: isFull ? "warn" : "good",
    hint: isFull ? "A full server refuses writes." : "",
  };
}
