import type uPlot from "uplot";
import { number, time } from "../../../format.ts";
import { colorOf, h, setText } from "../dom.ts";
import { LONE_POINTS, type Overlay, timeChart } from "../series/chart.ts";
import { type Span, zoomTo } from "../series/view-state.ts";

const HEIGHT_PX = 240;
const DASHES = [[], [7, 3], [2, 2], [9, 3, 2, 3]];

export interface Line {
  readonly name: string;
  /** A custom property of the style sheet, such as "--good". */
  readonly color: string;
  /** Lines of one color have different patterns, by this number. */
  readonly pattern: number;
  /** One for each bucket. */
  readonly values: readonly (number | null)[];
}

/** Lines over time with a legend that shows the numbers below the cursor. Dragging zooms. */
export class LinesChart {
  readonly element: HTMLElement;
  readonly #unit: string;
  readonly #overlay: Overlay = { span: { fromMs: 0, toMs: 1 }, marks: [], windows: [] };
  readonly #readout = h("p", { class: "readout" });
  readonly #target = h("div", { class: "plot", role: "img" });
  readonly #observer = new ResizeObserver(() => this.#fit());
  #chart: uPlot | undefined;
  #lines: readonly Line[] = [];
  #endsMs: readonly number[] = [];

  /** `name` is unique on the page. */
  constructor(name: string, title: string, unit: string) {
    this.#unit = unit;
    this.element = h(
      "section",
      { class: `card chart ${name}` },
      h("div", { class: "chart-head" }, h("h2", {}, title), this.#readout),
      this.#target,
    );
    this.#observer.observe(this.#target);
    addEventListener("oriel:theme", this.#rebuild);
  }

  close(): void {
    this.#observer.disconnect();
    removeEventListener("oriel:theme", this.#rebuild);
    this.#chart?.destroy();
  }

  /** `label` says for screen readers what the chart shows. */
  show(span: Span, endsMs: readonly number[], lines: readonly Line[], label: string): void {
    const isOther = lines.length !== this.#lines.length || lines.some(({ name }, i) => name !== this.#lines[i]!.name);
    this.#lines = lines;
    this.#endsMs = endsMs;
    this.#overlay.span = { fromMs: span.fromMs, toMs: span.toMs };
    this.#target.setAttribute("aria-label", label);
    if (isOther) {
      this.#readout.replaceChildren(h("span", { class: "at" }), ...lines.map(keyOf));
      this.#rebuild();
    } else this.#data();
  }

  readonly #rebuild = (): void => {
    this.#chart?.destroy();
    this.#chart = timeChart(this.#target, this.#overlay, {
      height: HEIGHT_PX,
      series: this.#lines.map(({ name, color, pattern }) => ({
        label: name,
        stroke: colorOf(color),
        width: 2,
        dash: DASHES[pattern % DASHES.length]!,
        points: LONE_POINTS,
      })),
      onCursor: (index) => this.#read(index),
      onSelect: zoomTo,
    });
    this.#data();
  };

  #data(): void {
    const seconds = this.#endsMs.map((ms) => ms / 1000);
    this.#chart!.setData([seconds, ...this.#lines.map(({ values }) => values)] as uPlot.AlignedData);
    this.#read(null);
  }

  /** Shows the numbers below the cursor, else those of the last whole bucket. */
  #read(index: number | null): void {
    const at = index ?? Math.max(0, this.#endsMs.length - 2);
    const end = this.#endsMs[at];
    const [until, ...keys] = this.#readout.children;
    if (end === undefined || !until) return;
    setText(until, `until ${time(end)}`);
    for (const [i, { values }] of this.#lines.entries())
      setText(keys[i]!.lastElementChild!, `${number(values[at])} ${this.#unit}`);
  }

  #fit(): void {
    const { clientWidth } = this.#target;
    if (this.#chart && clientWidth > 0 && this.#chart.width !== clientWidth)
      this.#chart.setSize({ width: clientWidth, height: HEIGHT_PX });
  }
}

function keyOf({ name, color, pattern }: Line): HTMLElement {
  const swatch = h("i", { "aria-hidden": "true" });
  const [on = 1, off = 0] = DASHES[pattern % DASHES.length]!;
  swatch.style.background = `repeating-linear-gradient(90deg, var(${color}) 0 ${on}px, transparent ${on}px ${on + off}px)`;
  return h("span", { class: "key" }, swatch, h("bdi", {}, name), " ", h("b", {}));
}
