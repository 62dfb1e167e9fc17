import type { Distribution, SeriesView, StructureEntry } from "../../protocol.ts";
import { change } from "../address.ts";
import { h, setText } from "../dom.ts";
import type { Panel, PanelMaker } from "../kinds/panel.ts";
import { settingsSection } from "../kinds/settings-panel.ts";
import { SaveLinks } from "../parts/save-links.ts";
import { ask, type PageOverview } from "../server.ts";
import { Charts } from "./charts.ts";
import { DistributionView } from "./distribution.ts";
import { foundMarks, MarksSection } from "./marks.ts";
import { numbersTable, Summary } from "./summary.ts";
import { Toolbar } from "./toolbar.ts";
import {
  BUCKETS,
  type Mark,
  retentionMsOf,
  type Span,
  stateNow,
  textOf,
  type ViewState,
  zoomTo,
} from "./view-state.ts";

/** A live view asks again this often. Its buckets change no faster. */
const REFRESH_MS = 2000;

/** The distributions, which are saved one by one. */
const SAVED = ["A", "B"] as const;

export const seriesPanel: PanelMaker = (structure, overview) => new SeriesPanel(structure, overview);

/** Rate, exact percentiles, heat map and distribution of a series. */
class SeriesPanel implements Panel {
  readonly element: HTMLElement;
  readonly #structure: StructureEntry;
  readonly #toolbar: Toolbar;
  readonly #summary = new Summary();
  readonly #charts = new Charts((span) => this.#onSelect(span));
  readonly #distribution = new DistributionView();
  readonly #distributionHint = h("p", { class: "hint" });
  readonly #saves = {
    A: new SaveLinks("the distribution of A", ["csv", "json"], "Save A"),
    B: new SaveLinks("the distribution of B", ["csv", "json"], "Save B"),
  };
  readonly #marks = new MarksSection();
  readonly #trouble = h("p", { class: "notice bad", role: "alert", hidden: true });
  readonly #nothing = h("p", { class: "notice", role: "status", hidden: true });
  #found: Mark[];
  #view: SeriesView | undefined;
  #asked = "";
  #askedWindows = "";
  #timer = 0;
  #request = 0;
  #isClosed = false;

  constructor(structure: StructureEntry, overview: PageOverview) {
    this.#structure = structure;
    this.#found = foundMarks(overview);
    this.#toolbar = new Toolbar(structure.id, retentionMsOf(structure), () => this.#view);
    const clear = h(
      "button",
      { type: "button", class: "quiet", click: () => change({ a: null, b: null, drag: null }) },
      "Show the whole window",
    );
    const compare = h(
      "button",
      { type: "button", class: "quiet", click: () => this.#compareWithBefore() },
      "Compare with the time before",
    );
    this.element = h(
      "div",
      { class: "stack" },
      this.#toolbar.element,
      this.#trouble,
      this.#nothing,
      this.#summary.notice,
      this.#summary.element,
      this.#charts.element,
      h(
        "section",
        { class: "card", "aria-labelledby": "distribution-title" },
        h(
          "div",
          { class: "chart-head" },
          h("h2", { id: "distribution-title" }, "Distribution"),
          h("div", { class: "buttons" }, compare, clear, ...SAVED.map((name) => this.#saves[name].element)),
        ),
        this.#distributionHint,
        this.#distribution.element,
      ),
      numbersTable(() => this.#view),
      this.#marks.element,
      settingsSection(structure),
    );
    addEventListener("visibilitychange", this.#later);
  }

  overview(overview: PageOverview): void {
    this.#found = foundMarks(overview);
  }

  update(): void {
    const state = stateNow();
    this.#toolbar.update(this.#view);
    const asked = JSON.stringify([state.fixed, state.spanMs, state.below]);
    if (asked !== this.#asked) {
      this.#asked = asked;
      void this.#load(state);
    } else if (this.#view) this.#draw(this.#view);
    void this.#loadWindows(state);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    removeEventListener("visibilitychange", this.#later);
    this.#charts.close();
    this.#distribution.close();
  }

  async #load({ fixed, spanMs, below }: ViewState): Promise<void> {
    const request = ++this.#request;
    try {
      const window = fixed ? { from: fixed.fromMs, to: fixed.toMs } : { span: spanMs };
      const view = await ask<SeriesView>("part", {
        id: this.#structure.id,
        part: "view",
        buckets: BUCKETS,
        below,
        ...window,
      });
      if (request !== this.#request || this.#isClosed) return;
      this.#trouble.hidden = true;
      this.#view = view;
      this.#draw(view);
      void this.#loadWindows(stateNow());
    } catch (error) {
      if (request !== this.#request || this.#isClosed) return;
      this.#trouble.hidden = false;
      setText(this.#trouble, (error as Error).message);
    }
    this.#later();
  }

  readonly #later = (): void => {
    clearTimeout(this.#timer);
    if (this.#isClosed || document.hidden || stateNow().fixed) return;
    this.#timer = window.setTimeout(() => void this.#load(stateNow()), REFRESH_MS);
  };

  #draw(view: SeriesView): void {
    const { marks, a, b, scale, below } = stateNow();
    const inside = [...marks, ...this.#found]
      .filter(({ atMs }) => atMs > view.fromMs && atMs <= view.toMs)
      .sort((one, other) => one.atMs - other.atMs);
    const windows = [...(a ? [{ name: "A" as const, span: a }] : []), ...(b ? [{ name: "B" as const, span: b }] : [])];
    const canLog = (view.whole.min ?? 0) > 0;
    this.#toolbar.update(view);
    this.#summary.show(view, below);
    this.#charts.show(
      view,
      { marks: inside, windows },
      canLog && (scale === undefined ? view.heat?.isLog === true : scale === "log"),
    );
    this.#marks.show(inside);
    this.#nothing.hidden = view.whole.count > 0;
    setText(
      this.#nothing,
      "No event in this window. Choose a longer span, or record a value: the view follows by itself.",
    );
  }

  /** Asks for the distributions of A and B. Without A it is the whole window. */
  async #loadWindows({ a, b, below }: ViewState): Promise<void> {
    const whole = this.#view && { fromMs: this.#view.fromMs, toMs: this.#view.toMs };
    const first = a ?? whole;
    if (!first) return;
    const asked = JSON.stringify([first, b, below]);
    if (asked === this.#askedWindows) return;
    this.#askedWindows = asked;
    const queryOf = ({ fromMs, toMs }: Span) => ({
      id: this.#structure.id,
      part: "distribution",
      from: fromMs,
      to: toMs,
      below,
    });
    const read = (span: Span) => ask<Distribution>("part", queryOf(span));
    try {
      const [one, other] = await Promise.all([read(first), b && read(b)]);
      if (asked !== this.#askedWindows || this.#isClosed) return;
      this.#distribution.show(one, other);
      this.#saves.A.show(queryOf(first));
      if (b) this.#saves.B.show(queryOf(b));
      this.#saves.B.element.hidden = !b;
      const hint = a
        ? ""
        : "Of the whole window. Choose Drag: Window A and drag over a chart to look at a part, and Window B to compare.";
      setText(this.#distributionHint, hint);
    } catch (error) {
      setText(this.#distributionHint, (error as Error).message);
    }
  }

  #onSelect(span: Span): void {
    const { drag } = stateNow();
    if (drag === "zoom") zoomTo(span);
    else change({ [drag]: textOf(span) });
  }

  /** Compares the window with the time before it, of the same length. The window, or A if there is one, becomes B. The time before becomes A. */
  #compareWithBefore(): void {
    const shown = stateNow().a ?? this.#view;
    if (!shown) return;
    const length = shown.toMs - shown.fromMs;
    change({ b: textOf(shown), a: textOf({ fromMs: shown.fromMs - length, toMs: shown.fromMs }) });
  }
}
