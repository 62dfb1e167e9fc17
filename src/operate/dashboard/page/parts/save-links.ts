import { h } from "../dom.ts";
import { addressOf } from "../server.ts";

/** The content of a file: the structure, the part, and the window or limit on the page. */
export type SavedQuery = Record<string, string | number | undefined>;

/** Links that download what is shown. The server answers with a file. */
export class SaveLinks {
  readonly element: HTMLElement;
  readonly #links: readonly (readonly [format: string, link: HTMLAnchorElement])[];

  /** `what` names for screen readers what is saved. */
  constructor(what: string, formats: readonly ("csv" | "json")[], title = "Save") {
    this.#links = formats.map((format) => {
      const text = format.toUpperCase();
      return [format, h("a", { download: "", "aria-label": `Save ${what} as ${text}` }, text)];
    });
    const links = this.#links.map(([, link]) => link);
    this.element = h("div", { class: "labelled files" }, h("span", {}, title), ...links);
  }

  show(query: SavedQuery): void {
    for (const [format, link] of this.#links) link.href = addressOf("part", { ...query, format });
  }
}
