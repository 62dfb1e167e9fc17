import { duration, when } from "../../../format.ts";
import { change } from "../address.ts";
import { h, setText } from "../dom.ts";
import { type SavedQuery, SaveLinks } from "../parts/save-links.ts";
import { type Span, stateNow } from "../series/view-state.ts";

const SPANS_MS = [300_000, 900_000, 3_600_000, 10_800_000];

/** The choice of a span, the way back from a window chosen by dragging, and the files of what is shown. */
export class HistoryWindow {
  readonly element: HTMLElement;
  readonly #spans = h("div", { class: "segments", role: "group", "aria-label": "Span" });
  readonly #back = h(
    "button",
    { type: "button", class: "quiet", click: () => change({ window: null }) },
    "Back to the present",
  );
  readonly #shown = h("span", { class: "hint window" });
  readonly #save: SaveLinks;
  readonly #fileOf: () => SavedQuery;
  readonly #spansMs: readonly number[];

  /** `fileOf`: the structure and the part that are saved. The window is added. `spansMs`: those to choose from. */
  constructor(what: string, formats: readonly ("csv" | "json")[], fileOf: () => SavedQuery, spansMs = SPANS_MS) {
    this.#spansMs = spansMs;
    this.#save = new SaveLinks(what, formats);
    this.#fileOf = fileOf;
    this.element = h("div", { class: "toolbar" }, this.#spans, this.#back, this.#save.element, this.#shown);
    this.update();
  }

  /** The window of the address, as the server reads it. */
  get query(): Record<string, number> {
    const { fixed, spanMs } = stateNow();
    return fixed ? { from: fixed.fromMs, to: fixed.toMs } : { span: spanMs };
  }

  /** Shows what the address says, and the window that was answered. */
  update(shown?: Span): void {
    const { fixed, spanMs } = stateNow();
    const focused = [...this.#spans.children].indexOf(document.activeElement as Element);
    this.#spans.replaceChildren(
      ...this.#spansMs.map((ms) =>
        h(
          "button",
          {
            type: "button",
            "aria-pressed": String(!fixed && spanMs === ms),
            click: () => change({ span: ms, window: null }),
          },
          duration(ms),
        ),
      ),
    );
    (this.#spans.children[focused] as HTMLElement | undefined)?.focus();
    this.#back.hidden = !fixed;
    if (!shown) return;
    const { fromMs, toMs } = shown;
    setText(this.#shown, `${fixed ? "" : "Live: "}${when(fromMs)} – ${when(toMs)} (${duration(toMs - fromMs)})`);
    this.#save.show({ ...this.#fileOf(), from: fromMs, to: toMs });
  }
}
