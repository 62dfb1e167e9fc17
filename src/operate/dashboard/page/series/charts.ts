import type uPlot from "uplot";
import { number, time, whole } from "../../../format.ts";
import type { SeriesView } from "../../protocol.ts";
import { change } from "../address.ts";
import { colorOf, h, setText } from "../dom.ts";
import { isDark } from "../theme.ts";
import { LONE_POINTS, type Overlay, timeChart } from "./chart.ts";
import { moveBy, type Span, zoomBy } from "./view-state.ts";

const LINES = ["p50", "p90", "p99", "max"] as const;
const WIDTHS = { p50: 1.5, p90: 1.5, p99: 2, max: 1 };

interface Drawn {
  readonly target: HTMLElement;
  readonly readout: HTMLElement;
  chart: uPlot | undefined;
}

/** Percentiles, rate and heat map over one time axis. Dragging selects a window in any of them. */
export class Charts {
  readonly element: HTMLElement;
  readonly #overlay: Overlay = { span: { fromMs: 0, toMs: 1 }, marks: [], windows: [] };
  readonly #onSelect: (span: Span) => void;
  readonly #lines = drawn("Percentiles", "lines");
  readonly #rate = drawn("Rate", "rate");
  readonly #heat = drawn("Heat map", "heat");
  #view: SeriesView | undefined;
  #isLog = false;

  constructor(onSelect: (span: Span) => void) {
    this.#onSelect = onSelect;
    this.element = h(
      "div",
      { class: "stack" },
      ...[this.#lines, this.#heat, this.#rate].map(({ target }) => target.parentElement!),
    );
    this.element.addEventListener("keydown", (event) => this.#onKey(event));
    const observer = new ResizeObserver(() => this.#fit());
    observer.observe(this.element);
    addEventListener("oriel:theme", this.rebuild);
  }

  close(): void {
    removeEventListener("oriel:theme", this.rebuild);
    for (const each of [this.#lines, this.#rate, this.#heat]) each.chart?.destroy();
  }

  show(view: SeriesView, overlay: Omit<Overlay, "span">, isLog: boolean): void {
    const { heat } = this.#view ?? {};
    // The vertical axis of the heat map belongs to its bins, and a logarithmic axis to the chart.
    const isOther = !this.#view || isLog !== this.#isLog || heat?.isLog !== view.heat?.isLog;
    this.#view = view;
    this.#heat.target.parentElement!.hidden = view.heat === null;
    this.#isLog = isLog;
    Object.assign(this.#overlay, overlay, { span: view });
    if (isOther) this.rebuild();
    else this.#data();
  }

  readonly rebuild = (): void => {
    if (!this.#view || !this.element.isConnected) return;
    for (const each of [this.#lines, this.#rate, this.#heat]) each.chart?.destroy();
    const onSelect = this.#onSelect;
    const onCursor = (index: number | null) => this.#read(index);
    this.#lines.chart = timeChart(this.#lines.target, this.#overlay, {
      height: 260,
      isLog: this.#isLog,
      series: LINES.map((name) => ({
        label: name,
        stroke: colorOf(`--${name}`),
        width: WIDTHS[name],
        points: LONE_POINTS,
        ...(name === "max" && { dash: [3, 3] }),
      })),
      onCursor,
      onSelect,
    });
    this.#rate.chart = timeChart(this.#rate.target, this.#overlay, {
      height: 140,
      series: [
        { label: "rate", stroke: colorOf("--rate"), fill: colorOf("--rate-fill"), width: 1.5, points: { show: false } },
      ],
      onCursor,
      onSelect,
    });
    const edges = this.#view.heat?.edges ?? [0, 1];
    this.#heat.chart = timeChart(this.#heat.target, this.#overlay, {
      height: 220,
      isLog: this.#view.heat?.isLog ?? false,
      series: [{ stroke: "transparent", points: { show: false } }],
      range: () => heatRange(this.#view?.heat?.edges ?? edges),
      draw: (chart) => this.#view && drawHeat(chart, this.#view),
      onCursor,
      onSelect,
    });
    this.#data();
  };

  #data(): void {
    const view = this.#view!;
    const seconds = view.endsMs.map((ms) => ms / 1000);
    const set = ({ chart }: Drawn, columns: (readonly (number | null)[])[]) => {
      chart!.setData([seconds, ...columns] as uPlot.AlignedData);
    };
    const positive = (column: readonly (number | null)[]) =>
      this.#isLog ? column.map((value) => (value !== null && value > 0 ? value : null)) : column;
    set(
      this.#lines,
      LINES.map((name) => positive(view[name])),
    );
    set(this.#rate, [view.rate]);
    set(this.#heat, [seconds.map(() => null)]);
    const span = `from ${time(view.fromMs)} to ${time(view.toMs)}`;
    label(
      this.#lines,
      `Percentiles ${span}: p50 ${number(view.whole.p50)}, p90 ${number(view.whole.p90)}, p99 ${number(view.whole.p99)}, maximum ${number(view.whole.max)}`,
    );
    label(this.#rate, `Rate ${span}: ${number(view.whole.rate)} events per second, ${whole(view.whole.count)} events`);
    label(this.#heat, `Heat map of values ${span}, between ${number(view.whole.min)} and ${number(view.whole.max)}`);
    this.#read(null);
  }

  /** Shows the numbers below the cursor, else those of the last whole bucket. */
  #read(index: number | null): void {
    const view = this.#view;
    if (!view) return;
    const at = index ?? Math.max(0, view.endsMs.length - 2);
    const end = view.endsMs[at];
    if (end === undefined) return;
    const until = `until ${time(end)}`;
    setText(this.#lines.readout.children[0]!, until);
    for (const [i, name] of LINES.entries())
      setText(this.#lines.readout.children[i + 1]!.lastElementChild!, number(view[name][at]));
    setText(this.#rate.readout.children[0]!, until);
    setText(this.#rate.readout.children[1]!.lastElementChild!, `${number(view.rate[at])} /s`);
    setText(this.#heat.readout.children[0]!, `${whole(view.count[at] ?? 0)} events ${until}`);
  }

  #fit(): void {
    for (const { chart, target } of [this.#lines, this.#rate, this.#heat])
      if (chart && target.clientWidth > 0 && chart.width !== target.clientWidth)
        chart.setSize({ width: target.clientWidth, height: chart.height });
  }

  #onKey(event: KeyboardEvent): void {
    const view = this.#view;
    if (!view || event.ctrlKey || event.metaKey || event.altKey) return;
    const moves: Record<string, () => void> = {
      ArrowLeft: () => moveBy(view, -0.25),
      ArrowRight: () => moveBy(view, 0.25),
      "+": () => zoomBy(view, 0.5),
      "-": () => zoomBy(view, 2),
      Escape: () => change({ window: null }),
    };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    move();
  }
}

function heatRange(edges: readonly number[]): [number, number] {
  const [low, high] = [edges[0]!, edges.at(-1)!];
  return low === high ? [low - 1, high + 1] : [low, high];
}

function label({ target }: Drawn, text: string): void {
  target.setAttribute(
    "aria-label",
    `${text}. Arrow keys move the window, plus and minus zoom, Escape returns to the present.`,
  );
}

function drawn(title: string, name: string): Drawn {
  const keys = name === "lines" ? LINES : name === "rate" ? (["rate"] as const) : [];
  const readout = h(
    "p",
    { class: "readout" },
    h("span", { class: "at" }),
    ...keys.map((key) =>
      h(
        "span",
        { class: `key ${key}` },
        h("i", { "aria-hidden": "true" }),
        key === "rate" ? "" : `${key} `,
        h("b", {}),
      ),
    ),
  );
  const target = h("div", { class: "plot", tabindex: "0", role: "group" });
  h("section", { class: `card chart ${name}` }, h("div", { class: "chart-head" }, h("h2", {}, title), readout), target);
  return { target, readout, chart: undefined };
}

/** Light to dark on a light page, dark to light on a dark one: more events stand out. The order is also right in grey. */
const LIGHT = ["#e6f1f5", "#b3d6e4", "#6fb2cf", "#2f86b0", "#145a86", "#0a2f52"];
const DARK = ["#12303f", "#155272", "#1f7ca3", "#45a8c9", "#8fd3e2", "#e6fbff"];

/** Paints the cells of a heat map below a chart. The colour grows with the logarithm of the count. */
function drawHeat(chart: uPlot, { heat, endsMs, fromMs }: SeriesView): void {
  if (!heat) return;
  const { ctx } = chart;
  const bins = heat.edges.length - 1;
  const most = heat.cells.reduce((max, count) => Math.max(max, count), 1);
  const colors = isDark() ? DARK : LIGHT;
  const tops = heat.edges.map((edge) => chart.valToPos(edge, "y", true));
  endsMs.forEach((endMs, bucket) => {
    const left = Math.floor(chart.valToPos((endsMs[bucket - 1] ?? fromMs) / 1000, "x", true));
    const right = Math.ceil(chart.valToPos(endMs / 1000, "x", true));
    for (let bin = 0; bin < bins; bin++) {
      const count = heat.cells[bucket * bins + bin]!;
      if (count === 0) continue;
      const share = Math.log(1 + count) / Math.log(1 + most);
      ctx.fillStyle = colors[Math.min(colors.length - 1, Math.floor(share * colors.length))]!;
      const top = Math.floor(tops[bin + 1]!);
      ctx.fillRect(left, top, right - left, Math.max(2, Math.ceil(tops[bin]!) - top));
    }
  });
}
