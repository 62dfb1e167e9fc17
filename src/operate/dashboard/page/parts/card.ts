import { h } from "../dom.ts";

/** A section with a heading. `name` is unique on the page. */
export function card(
  name: string,
  title: string,
  besideTitle: readonly Node[],
  ...content: (Node | string | false)[]
): HTMLElement {
  return h(
    "section",
    { class: `card ${name}`, "aria-labelledby": `${name}-title` },
    h("div", { class: "card-head" }, h("h2", { id: `${name}-title` }, title), ...besideTitle),
    ...content,
  );
}
