import type { PayloadText } from "../../parts.ts";
import { h } from "../dom.ts";

const LINE_CHARACTERS = 80;

/** A payload on one line, which opens to the whole text. */
export function payloadCell(payload: PayloadText | null): HTMLElement {
  if (!payload) return h("span", { class: "hint" }, "hidden");
  const { form, text, isCut } = payload;
  const line = text.replace(/\s+/g, " ");
  const isLong = line.length > LINE_CHARACTERS || isCut || (form === "text" && text.includes("\n"));
  const shown = h(
    "code",
    { class: "payload" },
    line.slice(0, LINE_CHARACTERS) + (line.length > LINE_CHARACTERS ? "…" : ""),
  );
  const tag = h("span", { class: `form ${form}` }, form);
  if (!isLong) return h("span", {}, tag, shown);
  return h(
    "details",
    {},
    h("summary", {}, tag, shown),
    h("pre", { tabindex: "0" }, isCut ? `${text}…` : text),
    isCut && h("p", { class: "hint" }, "The rest is not shown."),
  );
}
