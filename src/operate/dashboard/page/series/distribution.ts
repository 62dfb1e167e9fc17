import uPlot from "uplot";
import { duration, number, percent, when, whole } from "../../../format.ts";
import type { Distribution } from "../../protocol.ts";
import { colorOf, h } from "../dom.ts";
import { LOG_AXIS } from "./chart.ts";

/** Rows of the table of percentiles. */
const SHOWN = [0, 1, 10, 25, 50, 75, 90, 95, 99, 99.9, 99.99, 100];
const NAMES: Record<number, string> = { 0: "min", 100: "max" };
/** The axis of percentiles gives each further nine the same width. */
const TICKS = [50, 90, 99, 99.9, 99.99];
const xOf = (p: number) => -Math.log10(1 - p / 100);

type Pair = readonly [a: Distribution, b: Distribution | undefined];

/** The exact distribution of one window, or of two: density, percentiles, and a table. */
export class DistributionView {
  readonly element: HTMLElement;
  readonly #density = h("div", { class: "plot" });
  readonly #curve = h("div", { class: "plot" });
  readonly #table = h("div", { class: "whole" });
  #charts: uPlot[] = [];
  #shown: Pair | undefined;

  constructor() {
    this.element = h(
      "div",
      { class: "halves" },
      h(
        "div",
        {},
        h("figure", {}, h("figcaption", {}, "Histogram"), this.#density),
        h("figure", {}, h("figcaption", {}, "Value at each percentile"), this.#curve),
      ),
      this.#table,
    );
    addEventListener("oriel:theme", this.#redraw);
    new ResizeObserver(() => this.#fit()).observe(this.element);
  }

  close(): void {
    removeEventListener("oriel:theme", this.#redraw);
    for (const chart of this.#charts) chart.destroy();
  }

  show(a: Distribution, b: Distribution | undefined): void {
    this.#shown = [a, b];
    this.#table.replaceChildren(tableOf(a, b));
    this.#redraw();
  }

  readonly #redraw = (): void => {
    if (!this.#shown || !this.element.isConnected) return;
    for (const chart of this.#charts) chart.destroy();
    this.#charts = [density(this.#density, this.#shown), curve(this.#curve, this.#shown)];
  };

  #fit(): void {
    this.#charts.forEach((chart, i) => {
      const width = (i === 0 ? this.#density : this.#curve).clientWidth;
      if (width > 0 && width !== chart.width) chart.setSize({ width, height: chart.height });
    });
  }
}

function optionsOf(target: HTMLElement, height: number): uPlot.Options & { axes: uPlot.Axis[] } {
  const axis = {
    stroke: colorOf("--ink-2"),
    font: "11px system-ui, sans-serif",
    grid: { stroke: colorOf("--grid"), width: 1 },
    ticks: { show: false },
  };
  return {
    width: Math.max(180, target.clientWidth),
    height,
    padding: [8, 24, 0, 0],
    legend: { show: false },
    cursor: { show: false },
    axes: [
      { ...axis, size: 28 },
      { ...axis, size: 58, values: (_chart, splits) => splits.map((value) => (value === null ? "" : number(value))) },
    ],
    series: [],
  };
}

/** The share of events per width, on the scale of the values, so that bins of two windows compare. */
function density(target: HTMLElement, [a, b]: Pair): uPlot {
  const parts = [a, b].flatMap((each, i) => {
    const bins = each?.histogram;
    if (!each || !bins) return [];
    const at = (edge: number) => (bins.isLog ? Math.log(edge) : edge);
    const heights = bins.counts.map(
      (count, bin) => count / each.window.count / (at(bins.edges[bin + 1]!) - at(bins.edges[bin]!)),
    );
    return [{ ...bins, heights, color: i === 0 ? "--a" : "--b" }];
  });
  const edges = parts.flatMap((part) => part.edges);
  const isLog = parts.some((part) => part.isLog) && Math.min(...edges) > 0;
  const most = Math.max(...parts.flatMap(({ heights }) => heights), 1e-300);
  const [least, largest] = [Math.min(...edges), Math.max(...edges)];
  const options = optionsOf(target, 180);
  options.axes[0]!.values = (_chart, splits) => splits.map((value) => (value === null ? "" : number(value)));
  if (isLog) Object.assign(options.axes[0]!, LOG_AXIS);
  options.axes[1]!.show = false;
  options.padding = [8, 24, 0, 12];
  options.scales = {
    x: {
      time: false,
      distr: isLog ? 3 : 1,
      range: () => (least < largest ? [least, largest] : [least - 1, least + 1]),
    },
    y: { range: [0, 1.05] },
  };
  options.series = [{}, { points: { show: false } }];
  options.hooks = {
    drawAxes: [
      ({ ctx, valToPos }) => {
        ctx.save();
        for (const { heights, edges, color } of parts) {
          ctx.fillStyle = ctx.strokeStyle = colorOf(color);
          ctx.globalAlpha = parts.length > 1 ? 0.55 : 0.85;
          heights.forEach((height, i) => {
            if (height === 0) return;
            const [left, right] = [valToPos(edges[i]!, "x", true), valToPos(edges[i + 1]!, "x", true)];
            const [top, bottom] = [valToPos(height / most, "y", true), valToPos(0, "y", true)];
            ctx.fillRect(left, Math.min(top, bottom - 1), Math.max(1, right - left - 1), Math.max(1, bottom - top));
          });
        }
        ctx.restore();
      },
    ],
  };
  return new uPlot(
    options,
    [
      [least, largest],
      [null, null],
    ] as uPlot.AlignedData,
    target,
  );
}

function curve(target: HTMLElement, [a, b]: Pair): uPlot {
  const points = a.percentiles.filter(({ p }) => p <= 99.99);
  const valuesOf = (each: Distribution | undefined) =>
    each ? each.percentiles.slice(0, points.length).map(({ value }) => value) : points.map(() => null);
  const options = optionsOf(target, 180);
  const isLog = a.histogram?.isLog === true && (b === undefined || b.histogram?.isLog === true);
  options.axes[0] = { ...options.axes[0]!, splits: () => TICKS.map(xOf), values: () => TICKS.map((p) => `p${p}`) };
  if (isLog) Object.assign(options.axes[1]!, LOG_AXIS);
  options.scales = { x: { time: false, range: [0, xOf(99.99)] }, y: { distr: isLog ? 3 : 1 } };
  const line = (name: string) => ({ stroke: colorOf(name), width: 2, points: { show: false } });
  options.series = [{}, line("--a"), line("--b")];
  return new uPlot(options, [points.map(({ p }) => xOf(p)), valuesOf(a), valuesOf(b)] as uPlot.AlignedData, target);
}

function tableOf(a: Distribution, b: Distribution | undefined): HTMLElement {
  const numberOf = (each: Distribution | undefined, p: number) =>
    each?.percentiles.find((one) => one.p === p)?.value ?? null;
  const windows = b ? [a, b] : [a];
  const change = (from: number | null, to: number | null) => {
    if (from === null || to === null || from === 0) return "–";
    const share = ((to - from) / Math.abs(from)) * 100;
    return `${share > 0 ? "+" : ""}${share.toFixed(Math.abs(share) < 10 ? 1 : 0)} %`;
  };
  const row = (name: string, [from = "", to = ""]: string[], diff: string, titles: string[] = []) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, name),
      h("td", { title: titles[0] }, from),
      b && h("td", { title: titles[1] }, to),
      b && h("td", {}, diff),
    );
  const numbers = (name: string, read: (each: Distribution) => number | null, text = number) => {
    const values = windows.map(read);
    return row(
      name,
      values.map(text),
      change(values[0]!, values[1] ?? null),
      values.map((value) => String(value ?? "")),
    );
  };
  return h(
    "table",
    { class: "numbers" },
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        h("th", {}, ""),
        ...windows.map((_, i) =>
          h("th", { scope: "col" }, h("span", { class: `tag ${i === 0 ? "a" : "b"}` }, i === 0 ? "A" : "B")),
        ),
        b && h("th", { scope: "col" }, "Change"),
      ),
    ),
    h(
      "tbody",
      {},
      row(
        "from",
        windows.map(({ window }) => when(window.fromMs)),
        "",
      ),
      row(
        "length",
        windows.map(({ window }) => duration(window.toMs - window.fromMs)),
        "",
      ),
      numbers(
        "events",
        ({ window }) => window.count,
        (value) => whole(value ?? 0),
      ),
      numbers("rate /s", ({ window }) => window.rate),
      numbers("mean", ({ window }) => window.mean),
      ...(a.window.below === null ? [] : [numbers("share below", ({ window }) => window.below, percent)]),
      ...SHOWN.map((p) => numbers(NAMES[p] ?? `p${p}`, (each) => numberOf(each, p))),
    ),
  );
}
