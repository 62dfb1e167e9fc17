import type { SeriesView, StructureEntry } from "../../protocol.ts";
import { addressWith } from "../address.ts";
import { h, setText } from "../dom.ts";
import { HistoryWindow } from "../history/history-window.ts";
import { LivePart } from "../parts/live-part.ts";
import { quoted } from "../parts/quoted.ts";
import { Charts } from "./charts.ts";
import { numbersTable, Summary } from "./summary.ts";
import { retentionMsOf, spansOf, zoomTo } from "./view-state.ts";

/** Values of a wider range have a logarithmic axis. */
const LOG_RATIO = 20;

/** The numbers of one row of groups over time. */
export class GroupView {
  readonly element: HTMLElement;
  readonly heading: HTMLElement;
  readonly #window: HistoryWindow;
  readonly #summary = new Summary();
  readonly #charts = new Charts(zoomTo);
  readonly #nothing = h("p", { class: "notice", role: "status", hidden: true });
  readonly #back = h("a", { class: "back" }, "← All groups");
  readonly #part: LivePart<SeriesView>;
  #view: SeriesView | undefined;

  /** `match`: labels and their values in JSON, as they stand in the address. */
  constructor(structure: StructureEntry, match: string) {
    const { id } = structure;
    const file = () => ({ id, part: "view", match });
    this.#window = new HistoryWindow("the group", ["csv", "json"], file, spansOf(retentionMsOf(structure)));
    this.heading = h("h2", { class: "group", tabindex: "-1" }, ...labelsOf(match));
    const { notice, element } = this.#summary;
    this.element = h(
      "div",
      { class: "stack" },
      ...[h("div", {}, this.#back, this.heading), this.#window.element, this.#nothing, notice, element],
      ...[this.#charts.element, numbersTable(() => this.#view)],
    );
    this.#part = new LivePart<SeriesView>({
      ...{ id, part: "view", element: this.element },
      query: () => ({ ...this.#window.query, match }),
      show: (view) => this.#show(view),
    });
    this.#linkBack();
  }

  update(): void {
    this.#window.update();
    this.#linkBack();
    this.#part.refresh();
  }

  close(): void {
    this.#part.close();
    this.#charts.close();
  }

  /** The span goes along. */
  #linkBack(): void {
    this.#back.href = addressWith({ group: null });
  }

  #show(view: SeriesView): void {
    this.#view = view;
    const { count, min, max } = view.whole;
    this.#window.update(view);
    this.#summary.show(view, undefined);
    const isLog = min !== null && max !== null && min > 0 && max / min > LOG_RATIO;
    this.#charts.show(view, { marks: [], windows: [] }, isLog);
    this.#nothing.hidden = count > 0;
    setText(this.#nothing, "No event of this group in this window. Choose a longer span.");
  }
}

/** Each label with its value. A text typed by hand, which names none, stands as it is. */
function labelsOf(match: string): Node[] {
  let labels: [name: string, value: unknown][] = [];
  try {
    labels = Object.entries(JSON.parse(match));
  } catch {
    // The server refuses it, and says why.
  }
  if (labels.length === 0) return [new Text(quoted(match))];
  return labels.map(([name, value]) =>
    h("span", {}, h("small", {}, `${name} `), h("code", { class: "id" }, value === "" ? "(empty)" : String(value))),
  );
}
