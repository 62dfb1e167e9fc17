import { time, whole } from "../../../format.ts";
import type { OutcomeHistory } from "../../parts.ts";
import { h } from "../dom.ts";
import { Facts } from "../parts/facts.ts";
import { LivePart } from "../parts/live-part.ts";
import { HistoryWindow } from "./history-window.ts";
import { type Line, LinesChart } from "./lines-chart.ts";

const NO_HISTORY =
  "Nothing has been counted in 3 hours. A process counts what it does, and reports it within 20 s. It does not with history: false or registry: false of its store, nor over HTTP, in memory, or in a runtime other than Node, Bun and Deno; there recordHistory(store) does.";

/** How the outcomes of a kind are named and drawn. The bad ones are those that an operator looks for. */
interface Words {
  /** "Calls", "Deliveries". */
  readonly what: string;
  readonly outcomes: Readonly<Record<string, { title: string; color: string; isBad?: true; isHiddenIfNone?: true }>>;
}

export const CALLS: Words = {
  what: "Calls",
  outcomes: {
    allowed: { title: "Allowed", color: "--good" },
    denied: { title: "Denied", color: "--bad", isBad: true },
    shadow: { title: "Shadow-denied", color: "--mark", isHiddenIfNone: true },
  },
};

export const DELIVERIES: Words = {
  what: "Deliveries",
  outcomes: {
    completed: { title: "Completed", color: "--good" },
    failed: { title: "Failed", color: "--warn" },
    dead: { title: "Died", color: "--bad", isBad: true },
  },
};

/** The calls or deliveries over time, by outcome and policy. */
export class OutcomesView {
  readonly element: HTMLElement;
  readonly #words: Words;
  readonly #part: LivePart<OutcomeHistory>;
  readonly #window: HistoryWindow;
  readonly #facts: Facts;
  readonly #chart: LinesChart;
  readonly #none = h("p", { class: "notice", role: "status", hidden: true }, NO_HISTORY);

  constructor(id: string, words: Words) {
    this.#words = words;
    this.#facts = new Facts(`${words.what} in the window`);
    this.#chart = new LinesChart("outcomes", `${words.what} over time`, "/s");
    const fileOf = () => ({ id, part: "history" });
    this.#window = new HistoryWindow(`the ${words.what.toLowerCase()}`, ["csv", "json"], fileOf);
    this.element = h(
      "div",
      { class: "stack" },
      this.#window.element,
      this.#none,
      this.#facts.element,
      this.#chart.element,
    );
    this.#part = new LivePart<OutcomeHistory>({
      ...{ id, part: "history", element: this.element },
      query: () => this.#window.query,
      show: (history) => this.#show(history),
    });
  }

  /** The address has changed. */
  update(): void {
    this.#window.update();
    this.#part.refresh();
  }

  close(): void {
    this.#part.close();
    this.#chart.close();
  }

  #show({ fromMs, toMs, endsMs, outcomes: listed }: OutcomeHistory): void {
    const { what, outcomes: words } = this.#words;
    const outcomes = listed.filter(({ outcome }) => Object.hasOwn(words, outcome));
    this.#window.update({ fromMs, toMs });
    this.#none.hidden = outcomes.length > 0;
    this.#chart.element.hidden = outcomes.length === 0;
    this.#facts.element.hidden = outcomes.length === 0;
    const facts = Object.entries(words).flatMap(([name, { title, isBad, isHiddenIfNone }]) => {
      const found = outcomes.filter(({ outcome }) => outcome === name);
      if (isHiddenIfNone && found.length === 0) return [];
      const value = found.reduce((sum, { total }) => sum + total, 0);
      const level = isBad && value > 0 ? ("bad" as const) : undefined;
      return { name, title, text: whole(value), value, level };
    });
    this.#facts.show(facts);
    // Processes have not reported all of the present yet, which would look like a fall.
    const isWhole = "to" in this.#window.query;
    const seen = new Map<string, number>();
    const lines = outcomes.map(({ outcome, policy, perSecond }): Line => {
      const pattern = seen.get(outcome) ?? 0;
      seen.set(outcome, pattern + 1);
      const { title, color } = words[outcome]!;
      const by = policy === "" ? "" : outcome === "allowed" ? ` (${policy})` : ` by ${policy}`;
      return {
        name: title.toLowerCase() + by,
        color,
        pattern,
        values: isWhole ? perSecond : [...perSecond.slice(0, -1), null],
      };
    });
    const sums = facts.map(({ title, text }) => `${text} ${title.toLowerCase()}`).join(", ");
    const label = `${what} per second from ${time(fromMs)} to ${time(toMs)}: ${sums} in all`;
    if (lines.length > 0) this.#chart.show({ fromMs, toMs }, endsMs, lines, label);
  }
}
