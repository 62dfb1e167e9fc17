import { svg } from "../dom.ts";

const WIDTH = 100;
const HEIGHT = 26;

/** The course of a rate: an area from 0 to its maximum. */
export class Spark {
  readonly #area = svg("path", { class: "spark-area" });
  readonly #line = svg("path", { class: "spark-line" });
  readonly element = svg(
    "svg",
    { class: "spark", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" },
    this.#area,
    this.#line,
  );
  #drawn: readonly number[] | undefined;

  show(counts: readonly number[] | undefined): void {
    if (counts === this.#drawn) return;
    this.#drawn = counts;
    const most = Math.max(...(counts ?? []), 1);
    const points = (counts?.some((count) => count > 0) ? counts : []).map((count, i) => {
      const x = (i / Math.max(1, counts!.length - 1)) * WIDTH;
      return `${x.toFixed(1)} ${(HEIGHT - 1 - (count / most) * (HEIGHT - 3)).toFixed(1)}`;
    });
    this.#line.setAttribute("d", points.length > 0 ? `M${points.join("L")}` : "");
    this.#area.setAttribute("d", points.length > 0 ? `M0 ${HEIGHT}L${points.join("L")}L${WIDTH} ${HEIGHT}Z` : "");
  }
}
