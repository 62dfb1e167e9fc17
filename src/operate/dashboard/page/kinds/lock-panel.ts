import { age, whole } from "../../../format.ts";
import type { LockPart } from "../../parts.ts";
import type { StructureEntry } from "../../protocol.ts";
import { h, setText } from "../dom.ts";
import { Actions } from "../parts/actions.ts";
import { card } from "../parts/card.ts";
import { type Fact, Facts } from "../parts/facts.ts";
import { LivePart } from "../parts/live-part.ts";
import { quoted } from "../parts/quoted.ts";
import type { PanelMaker } from "./panel.ts";
import { settingsSection } from "./settings-panel.ts";

const NONE = "–";

/** The holder of a lock, its lease and its queue; of a read-write lock the readers, too. */
export const lockPanel: PanelMaker = (structure, overview) => {
  const facts = new Facts("State");
  const state = h("section", { "aria-label": "State" }, facts.element);
  const text = h("p", {}, "Loading…");
  const buttons = h("div", { class: "buttons" });
  const actions = structure.kind === "Lock" ? new Actions(structure, overview, () => part.refresh()) : undefined;
  let shown: string | undefined;
  const part = new LivePart<LockPart>({
    ...{ id: structure.id, part: "state", element: state },
    show(answer) {
      facts.show(factsOf(answer));
      setText(text, explained(answer));
      const target = answer.fence === null ? undefined : `${answer.fence}`;
      if (target !== shown) buttons.replaceChildren(target && actions ? releaseButton(actions, structure, target) : "");
      shown = target;
    },
  });
  const element = h(
    "div",
    { class: "stack" },
    state,
    card("holder", "Holder", [buttons], text),
    actions?.element ?? "",
    settingsSection(structure),
  );
  return { element, update() {}, close: () => part.close() };
};

function factsOf({ isHeld, heldMs, leftMs, waitingProcesses, readers }: LockPart): Fact[] {
  const held = isHeld ? "held" : "free";
  const left = isHeld ? age(leftMs) : NONE;
  return [
    {
      name: "state",
      title: readers ? "Writers' side" : "State",
      text: held,
      value: held,
    },
    { name: "held", title: "Held for", text: heldMs !== null && isHeld ? age(heldMs) : NONE, value: null },
    { name: "left", title: "Lease left", text: left, value: null },
    ...(readers
      ? [{ name: "readers", title: "Readers inside", text: whole(readers.count), value: readers.count }]
      : []),
    { name: "waiting", title: "Processes waiting", text: whole(waitingProcesses), value: waitingProcesses },
  ];
}

function explained({ isHeld, fence, readers }: LockPart): string {
  if (!readers) return isHeld ? `The hold with fence ${fence}.` : "It is free.";
  const writer = isHeld ? `A writer: the hold with fence ${fence}.` : "No writer holds it.";
  return readers.count === 0 ? writer : `${writer} A writer works alone, after the last reader has left.`;
}

/** `target`: the fence of the hold, because a later one is not released. */
function releaseButton(actions: Actions, { name }: StructureEntry, target: string): HTMLElement | "" {
  const lock = quoted(name);
  return actions.button({
    ...{ action: "release", label: "Release…", target, yes: "Release the lock" },
    question: `Release the lock ${lock}, though its holder may still work? The next waiter gets it at once. The holder learns of it at its next renewal.`,
  });
}
