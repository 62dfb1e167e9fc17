import { time, whole } from "../../../format.ts";
import type { LimiterHistory } from "../../parts.ts";
import { h } from "../dom.ts";
import { Facts } from "../parts/facts.ts";
import { LivePart } from "../parts/live-part.ts";
import { HistoryWindow } from "./history-window.ts";
import { type Line, LinesChart } from "./lines-chart.ts";

const NO_HISTORY =
  "No history. Call recordHistory(store) in the processes that use this limiter: their calls are then counted from that time on.";
const COLORS = { allowed: "--good", denied: "--bad", shadow: "--mark" };
const TITLES = { allowed: "Allowed", denied: "Denied", shadow: "Shadow-denied" };

/** Allowed, denied and shadow-denied calls over time, by policy. */
export class LimiterHistoryView {
  readonly element: HTMLElement;
  readonly #part: LivePart<LimiterHistory>;
  readonly #window: HistoryWindow;
  readonly #facts = new Facts("Calls in the window");
  readonly #chart = new LinesChart("outcomes", "Calls over time", "/s");
  readonly #none = h("p", { class: "notice", role: "status", hidden: true }, NO_HISTORY);

  constructor(id: string) {
    this.#window = new HistoryWindow("the calls", ["csv", "json"], () => ({ id, part: "history" }));
    this.element = h(
      "div",
      { class: "stack" },
      this.#window.element,
      this.#none,
      this.#facts.element,
      this.#chart.element,
    );
    this.#part = new LivePart<LimiterHistory>({
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

  #show({ fromMs, toMs, endsMs, outcomes }: LimiterHistory): void {
    this.#window.update({ fromMs, toMs });
    this.#none.hidden = outcomes.length > 0;
    this.#chart.element.hidden = outcomes.length === 0;
    const totalOf = (outcome: string) =>
      outcomes.filter((each) => each.outcome === outcome).reduce((sum, { total }) => sum + total, 0);
    const [allowed, denied, shadow] = (["allowed", "denied", "shadow"] as const).map(totalOf) as [
      number,
      number,
      number,
    ];
    const fact = (name: keyof typeof TITLES, value: number) => ({
      name,
      title: TITLES[name],
      text: whole(value),
      value,
    });
    this.#facts.element.hidden = outcomes.length === 0;
    this.#facts.show([
      fact("allowed", allowed),
      { ...fact("denied", denied), level: denied > 0 ? "bad" : undefined },
      ...(outcomes.some(({ outcome }) => outcome === "shadow") ? [fact("shadow", shadow)] : []),
    ]);
    // Processes report late, so the rate of a short last bucket would jump.
    const lengthOf = (i: number) => endsMs[i]! - (endsMs[i - 1] ?? fromMs);
    const last = endsMs.length - 1;
    const isShort = last > 0 && lengthOf(last) < lengthOf(last - 1);
    const seen = new Map<string, number>();
    const lines = outcomes.map(({ outcome, policy, perSecond }): Line => {
      const pattern = seen.get(outcome) ?? 0;
      seen.set(outcome, pattern + 1);
      const name = `${TITLES[outcome].toLowerCase()}${outcome === "allowed" ? "" : " by"} ${policy}`;
      return {
        name: outcome === "allowed" ? `allowed (${policy})` : name,
        color: COLORS[outcome],
        pattern,
        values: isShort ? [...perSecond.slice(0, last), null] : perSecond,
      };
    });
    const label = `Calls per second from ${time(fromMs)} to ${time(toMs)}: ${whole(allowed)} allowed, ${whole(denied)} denied, ${whole(shadow)} shadow-denied in all`;
    if (lines.length > 0) this.#chart.show({ fromMs, toMs }, endsMs, lines, label);
  }
}
