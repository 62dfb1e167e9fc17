import type { SeriesView } from "../../protocol.ts";
import { change, routeNow } from "../address.ts";
import { h, setText } from "../dom.ts";
import { LivePart } from "../parts/live-part.ts";
import { Charts } from "../series/charts.ts";
import { Summary } from "../series/summary.ts";
import { zoomTo } from "../series/view-state.ts";
import { HistoryWindow } from "./history-window.ts";

const TIMINGS = [
  ["lateness", "Lateness", "From when a message was due until a worker claimed it."],
  ["wait", "Wait", "From the claim until the handler started."],
  ["run", "Run time", "From the start of the handler until the message was stored as done."],
] as const;
const NO_TIMINGS =
  "No message in this window has its times. They are kept for each message, so only if the processes whose workers handle this queue call recordHistory(store).";

/** The exact percentiles, heat map and rate of one timing of a queue's messages, in ms. */
export class QueueTimingsView {
  readonly element: HTMLElement;
  readonly #part: LivePart<SeriesView>;
  readonly #window: HistoryWindow;
  readonly #choice = h("div", { class: "segments", role: "group", "aria-label": "Timing" });
  readonly #meaning = h("p", { class: "hint" });
  readonly #none = h("p", { class: "notice", role: "status", hidden: true }, NO_TIMINGS);
  readonly #summary = new Summary();
  readonly #charts = new Charts(zoomTo);

  constructor(id: string) {
    const fileOf = () => ({ id, part: "timing", timing: timingNow() });
    this.#window = new HistoryWindow("the timings", ["json"], fileOf);
    const content = h("div", { class: "stack" }, this.#summary.element, this.#charts.element);
    this.element = h(
      "section",
      { class: "stack timings", "aria-labelledby": "timings-title" },
      h(
        "div",
        { class: "card" },
        h("div", { class: "card-head" }, h("h2", { id: "timings-title" }, "Timings of messages, in ms"), this.#choice),
        this.#meaning,
        this.#window.element,
        this.#none,
      ),
      content,
    );
    this.#part = new LivePart<SeriesView>({
      ...{ id, part: "timing", element: this.element },
      query: () => ({ ...this.#window.query, timing: timingNow() }),
      show: (view) => {
        this.#window.update(view);
        this.#none.hidden = view.whole.count > 0;
        content.hidden = view.whole.count === 0;
        if (view.whole.count === 0) return;
        this.#summary.show(view, undefined);
        this.#charts.show(view, { marks: [], windows: [] }, view.heat?.isLog === true);
      },
    });
    this.#showChoice();
  }

  /** The address has changed. */
  update(): void {
    this.#showChoice();
    this.#window.update();
    this.#part.refresh();
  }

  close(): void {
    this.#part.close();
    this.#charts.close();
  }

  #showChoice(): void {
    const now = timingNow();
    const focused = [...this.#choice.children].indexOf(document.activeElement as Element);
    this.#choice.replaceChildren(
      ...TIMINGS.map(([name, title]) =>
        h(
          "button",
          {
            type: "button",
            "aria-pressed": String(name === now),
            click: () => change({ timing: name === "lateness" ? null : name }),
          },
          title,
        ),
      ),
    );
    (this.#choice.children[focused] as HTMLElement | undefined)?.focus();
    setText(this.#meaning, TIMINGS.find(([name]) => name === now)![2]);
  }
}

function timingNow(): string {
  const asked = routeNow().query.get("timing");
  return TIMINGS.some(([name]) => name === asked) ? asked! : "lateness";
}
