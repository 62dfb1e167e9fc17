import { healthFacts, type Level } from "../../../doctor/health/health-facts.ts";
import { when } from "../../../format.ts";
import type { HealthEntry } from "../../protocol.ts";
import { h, setText } from "../dom.ts";

const MARKS: Record<Level, string> = { good: "●", warn: "▲", bad: "■" };
/** The state of the store in one line: what an operator looks at first. */
export class HealthStrip {
  readonly element = h("dl", { class: "health", "aria-label": "Store" });
  readonly alert = h("p", { class: "notice bad", role: "alert", hidden: true });

  show(health: HealthEntry): void {
    const facts = healthFacts(health);
    const isSame = this.element.children.length === facts.length;
    if (!isSame) this.element.replaceChildren(...facts.map(() => h("div", {}, h("dt"), h("dd"))));
    facts.forEach(({ label, text, level, hint }, i) => {
      const box = this.element.children[i] as HTMLElement;
      const mark = `${MARKS[level]} `;
      box.className = level;
      box.title = hint ?? "";
      setText(box.children[0]!, label);
      setText(box.children[1]!, mark + text);
    });
    const isDown = health.state === "down";
    this.alert.hidden = !isDown;
    if (isDown)
      setText(
        this.alert,
        `The store ${health.address ?? ""} has not answered since ${when(health.sinceMs)}: ${health.reason ?? "no reason known"}. The numbers below are the last ones. The page goes on by itself when the store is back.`,
      );
  }

  /** The dashboard's own server answers, though it may refuse. */
  reached(): void {
    this.alert.hidden = true;
  }

  /** The dashboard's own server does not answer. */
  unreached(): void {
    this.alert.hidden = false;
    setText(this.alert, "The dashboard does not answer. The page connects again by itself.");
  }
}
