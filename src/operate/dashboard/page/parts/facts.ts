import { h, setText } from "../dom.ts";

export interface Fact {
  readonly name: string;
  readonly title: string;
  readonly text: string;
  /** All digits. */
  readonly value: number | string | null;
  readonly level?: "good" | "warn" | "bad" | undefined;
}

/** A row of large numbers. The tooltip of each has all digits. */
export class Facts {
  readonly element: HTMLElement;

  constructor(label: string) {
    this.element = h("dl", { class: "facts", "aria-label": label });
  }

  show(facts: readonly Fact[]): void {
    if (this.element.children.length !== facts.length)
      this.element.replaceChildren(...facts.map(() => h("div", {}, h("dt"), h("dd"))));
    facts.forEach(({ name, title, text, value, level }, i) => {
      const box = this.element.children[i] as HTMLElement;
      box.dataset.name = name;
      box.className = level ?? "";
      setText(box.children[0]!, title);
      setText(box.children[1]!, text.replace(" %", "\u00a0%")); // a narrow box does not break the line there
      box.title = value === null ? "" : String(value);
    });
  }
}
