import { duration, when } from "../../../format.ts";
import { change } from "../address.ts";
import { h, setText } from "../dom.ts";
import { SaveLinks } from "../parts/save-links.ts";
import { BUCKETS, moveBy, type Span, spansOf, stateNow, zoomBy } from "./view-state.ts";

const DRAGS = [
  ["zoom", "Zoom"],
  ["a", "Window A"],
  ["b", "Window B"],
] as const;

/** The choice of a window, what dragging does, the limit of "share below", and the files. */
export class Toolbar {
  readonly element: HTMLElement;
  readonly #spans = h("div", { class: "segments", role: "group", "aria-label": "Span" });
  readonly #drags = h("div", { class: "segments", role: "group", "aria-label": "What dragging over a chart chooses" });
  readonly #scale = h(
    "select",
    { id: "scale", change: () => change({ scale: this.#scale.value }) },
    h("option", { value: "" }, "auto"),
    h("option", { value: "linear" }, "linear"),
    h("option", { value: "log" }, "logarithmic"),
  );
  readonly #below = h("input", {
    id: "below",
    type: "number",
    step: "any",
    placeholder: "value",
    change: () => change({ below: this.#below.value }),
  });
  readonly #window = h("p", { class: "hint window", role: "status" });
  readonly #save = new SaveLinks("the view", ["csv", "json"]);
  readonly #id: string;
  readonly #spansMs: readonly number[];

  constructor(id: string, retentionMs: number, shown: () => Span | undefined) {
    this.#id = id;
    this.#spansMs = spansOf(retentionMs);
    const with_ = (act: (span: Span) => void) => () => {
      const span = shown();
      if (span) act(span);
    };
    const button = (text: string, label: string, act: (span: Span) => void) =>
      h("button", { type: "button", "aria-label": label, title: label, click: with_(act) }, text);
    this.element = h(
      "div",
      { class: "toolbar series-tools" },
      this.#spans,
      h(
        "div",
        { class: "segments", role: "group", "aria-label": "Move and zoom" },
        button("←", "Earlier", (span) => moveBy(span, -0.5)),
        button("−", "Zoom out", (span) => zoomBy(span, 2)),
        button("+", "Zoom in", (span) => zoomBy(span, 0.5)),
        button("→", "Later", (span) => moveBy(span, 0.5)),
      ),
      h("div", { class: "labelled" }, h("span", {}, "Drag"), this.#drags),
      h("div", { class: "labelled" }, h("label", { for: "below" }, "Share below"), this.#below),
      h("div", { class: "labelled" }, h("label", { for: "scale" }, "Scale"), this.#scale),
      this.#save.element,
      this.#window,
    );
  }

  /** Shows what the address says. */
  update(shown: Span | undefined): void {
    const { fixed, spanMs, drag, below, scale } = stateNow();
    const [focusedSpan, focusedDrag] = [focusIn(this.#spans), focusIn(this.#drags)];
    this.#spans.replaceChildren(
      ...this.#spansMs.map((ms) =>
        h(
          "button",
          {
            type: "button",
            "aria-pressed": String(!fixed && Math.min(spanMs, this.#spansMs.at(-1)!) === ms),
            click: () => change({ span: ms, window: null }),
          },
          duration(ms),
        ),
      ),
    );
    this.#drags.replaceChildren(
      ...DRAGS.map(([name, text]) =>
        h(
          "button",
          {
            type: "button",
            "aria-pressed": String(drag === name),
            click: () => change({ drag: name === "zoom" ? null : name }, true),
          },
          text,
        ),
      ),
    );
    (this.#spans.children[focusedSpan] as HTMLElement | undefined)?.focus();
    (this.#drags.children[focusedDrag] as HTMLElement | undefined)?.focus();
    if (document.activeElement !== this.#below) this.#below.value = below === undefined ? "" : String(below);
    this.#scale.value = scale ?? "";
    if (!shown) return;
    setText(
      this.#window,
      `${fixed ? "" : "Live: "}${when(shown.fromMs)} – ${when(shown.toMs)} (${duration(shown.toMs - shown.fromMs)})`,
    );
    this.#save.show({ id: this.#id, part: "view", buckets: BUCKETS, from: shown.fromMs, to: shown.toMs, below });
  }
}

function focusIn(group: HTMLElement): number {
  return [...group.children].indexOf(document.activeElement as Element);
}
