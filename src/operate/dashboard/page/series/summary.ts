import { dateTime, number, percent, whole } from "../../../format.ts";
import type { SeriesView, WindowNumbers } from "../../protocol.ts";
import { h, setText } from "../dom.ts";
import { Facts } from "../parts/facts.ts";

const FACTS: [
  name: string,
  title: string,
  text: (numbers: WindowNumbers) => string,
  value: (numbers: WindowNumbers) => number | null,
][] = [
  ["count", "Events", ({ count }) => whole(count), ({ count }) => count],
  ["rate", "Rate /s", ({ rate }) => number(rate), ({ rate }) => rate],
  ["mean", "Mean", ({ mean }) => number(mean), ({ mean }) => mean],
  ["p50", "p50", ({ p50 }) => number(p50), ({ p50 }) => p50],
  ["p90", "p90", ({ p90 }) => number(p90), ({ p90 }) => p90],
  ["p99", "p99", ({ p99 }) => number(p99), ({ p99 }) => p99],
  ["max", "Max", ({ max }) => number(max), ({ max }) => max],
];

const REASONS: Record<string, string> = {
  retention: "The window begins before the oldest event that the series keeps.",
  lost: "Redis has lost events of this window.",
  clock: "The server's clock went back, so the time of the series stands still.",
};

/** The exact numbers of the whole window. The title of each has all digits. */
export class Summary {
  readonly #facts = new Facts("Numbers of the whole window");
  readonly element = this.#facts.element;
  readonly notice = h("p", { class: "notice warn", role: "status", hidden: true });

  show({ whole: numbers }: Pick<SeriesView, "whole">, below: number | undefined): void {
    const facts = FACTS.map(([name, title, text, value]) => ({
      name,
      title,
      text: text(numbers),
      value: value(numbers),
    }));
    if (below !== undefined)
      facts.push({
        name: "below",
        title: `Below ${number(below)}`,
        text: percent(numbers.below),
        value: numbers.below,
      });
    this.#facts.show(facts);
    this.notice.hidden = numbers.degradedBy === null;
    if (numbers.degradedBy !== null)
      setText(this.notice, REASONS[numbers.degradedBy] ?? `The answer may be incomplete: ${numbers.degradedBy}.`);
  }
}

/** The same numbers as the charts, for screen readers and for copying. It is made when it is opened. */
export function numbersTable(viewOf: () => SeriesView | undefined): HTMLElement {
  const body = h("tbody");
  const names = ["count", "rate", "p50", "p90", "p99", "max"] as const;
  const fill = () => {
    const view = viewOf();
    if (!view) return;
    body.replaceChildren(
      ...view.endsMs.map((end, i) =>
        h(
          "tr",
          {},
          h("th", { scope: "row" }, dateTime(end)),
          ...names.map((name) => h("td", {}, number(view[name][i]))),
        ),
      ),
    );
  };
  const details = h(
    "details",
    { class: "card", toggle: () => details.open && fill() },
    h("summary", {}, "Numbers as a table"),
    h(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "Numbers of each bucket" },
      h(
        "table",
        { class: "numbers" },
        h(
          "thead",
          {},
          h("tr", {}, h("th", { scope: "col" }, "Until"), ...names.map((name) => h("th", { scope: "col" }, name))),
        ),
        body,
      ),
    ),
  );
  return details;
}
