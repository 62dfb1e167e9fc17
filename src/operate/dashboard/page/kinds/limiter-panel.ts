import { policyText } from "../../../kinds/policy-text.ts";
import type { StructureEntry } from "../../protocol.ts";
import { h, setText } from "../dom.ts";
import { DeniedIdsView } from "../history/denied-ids-view.ts";
import { CALLS, OutcomesView } from "../history/outcomes-view.ts";
import { Actions } from "../parts/actions.ts";
import { card } from "../parts/card.ts";
import { quoted } from "../parts/quoted.ts";
import type { PageOverview } from "../server.ts";
import type { Panel, PanelMaker } from "./panel.ts";
import { settingsSection } from "./settings-panel.ts";

const BLOCKS = ["10m", "1h", "1d"];

export const limiterPanel: PanelMaker = (structure, overview) => new LimiterPanel(structure, overview);

/** Calls over time, the ids that are denied most, the policies, and what an operator may do with an id. */
class LimiterPanel implements Panel {
  readonly element: HTMLElement;
  readonly #structure: StructureEntry;
  readonly #actions: Actions;
  readonly #history: OutcomesView;
  readonly #denied: DeniedIdsView;
  readonly #id = h("input", { id: "reset-id", type: "text", autocomplete: "off", spellcheck: "false" });
  readonly #blockFor = h(
    "select",
    { "aria-label": "Length of the block" },
    ...BLOCKS.map((each) => h("option", { value: each }, each)),
  );
  readonly #hint = h("p", { role: "status", class: "hint" });

  constructor(structure: StructureEntry, overview: PageOverview) {
    const { policies, ...others } = structure.settings;
    this.#structure = structure;
    this.#actions = new Actions(structure, overview, () => this.#denied.refresh());
    this.#history = new OutcomesView(structure.id, CALLS);
    this.#denied = new DeniedIdsView(structure.id, (id) => this.#buttonsOf(id, overview.masksIds));
    this.element = h(
      "div",
      { class: "stack" },
      this.#history.element,
      this.#denied.element,
      policiesSection(policies),
      structure.actions.includes("reset") && this.#idSection(),
      this.#actions.element,
      settingsSection({ ...structure, settings: others }),
    );
  }

  update(): void {
    this.#history.update();
  }

  close(): void {
    this.#history.close();
    this.#denied.close();
  }

  #idSection(): HTMLElement {
    const onClick = (action: "reset" | "block") => () => {
      if (this.#id.value === "") setText(this.#hint, "Type the id first.");
      else void this.#actions.act(action, this.#choice(action, this.#id.value, this.#blockFor.value));
    };
    return card(
      "one-id",
      "Act on an id",
      [],
      h(
        "div",
        { class: "field" },
        h("label", { for: "reset-id" }, "Id, such as an address or a user"),
        this.#id,
        h("button", { type: "button", class: "danger", click: onClick("reset") }, "Reset…"),
        h("button", { type: "button", class: "danger", click: onClick("block") }, "Block…"),
        this.#blockFor,
      ),
      this.#hint,
    );
  }

  #choice(action: "reset" | "block", target: string, length: string) {
    const limiter = `in the limiter ${quoted(this.#structure.name)}`;
    if (action === "reset") {
      const question = `Delete the counts, block and reservations of ${quoted(target)} ${limiter}?`;
      return { target, question, yes: "Reset this id" };
    }
    const question = `Deny every call of ${quoted(target)} ${limiter} for ${length}? A reset ends the block.`;
    return { target, question, yes: "Block this id", query: { duration: length } };
  }

  #buttonsOf(id: string, isMasked: boolean): HTMLElement {
    if (isMasked) return h("div");
    const button = (action: "reset" | "block", label: string, description: string) =>
      this.#actions.button({ action, label, description, ...this.#choice(action, id, "1h") });
    const reset = button("reset", "Reset…", `Reset ${id}`);
    return h("div", { class: "buttons" }, reset, button("block", "Block 1h…", `Block 1h ${id}`));
  }
}

function policiesSection(policies: unknown): HTMLElement {
  const list = Array.isArray(policies) ? policies : [];
  const texts = list.map((policy) => h("li", {}, h("bdi", {}, policyText(policy))));
  const none = h("p", { class: "hint" }, "The policies depend on the id, so the registry does not list them.");
  return card("policies", "Policies", [], texts.length === 0 ? none : h("ul", { class: "plain" }, ...texts));
}
