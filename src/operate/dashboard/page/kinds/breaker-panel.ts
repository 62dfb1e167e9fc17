import { age, counted, duration, percent, when, whole } from "../../../format.ts";
import type { BreakerPart } from "../../parts.ts";
import type { StructureEntry } from "../../protocol.ts";
import { h } from "../dom.ts";
import { OpeningsView } from "../history/openings-view.ts";
import { Actions } from "../parts/actions.ts";
import { card } from "../parts/card.ts";
import { type Fact, Facts } from "../parts/facts.ts";
import { LivePart } from "../parts/live-part.ts";
import { quoted } from "../parts/quoted.ts";
import type { PanelMaker } from "./panel.ts";
import { settingsSection } from "./settings-panel.ts";

const LEVELS = { closed: "good", "half-open": "warn", open: "bad" } as const;

/** The state of a circuit, its window and its rule. */
export const breakerPanel: PanelMaker = (structure, overview) => {
  const facts = new Facts("Circuit");
  const state = h("section", { "aria-label": "Circuit" }, facts.element);
  const openings = new OpeningsView(structure.id);
  const actions = new Actions(structure, overview, () => {
    part.refresh();
    openings.refresh();
  });
  const part = new LivePart<BreakerPart>({
    ...{ id: structure.id, part: "state", element: state },
    show: (answer) => facts.show(factsOf(answer, structure)),
  });
  const element = h(
    "div",
    { class: "stack" },
    state,
    openings.element,
    card("rule", "Rule", buttonsOf(actions, structure), ...rulesOf(structure)),
    actions.element,
    settingsSection(structure),
  );
  const close = () => {
    part.close();
    openings.close();
  };
  return { element, update() {}, close };
};

function factsOf(
  { state, sinceMs, nowMs, calls, failures, slow, retryAfterMs }: BreakerPart,
  structure: StructureEntry,
): Fact[] {
  const share = (count: number) => (calls === 0 ? "" : ` · ${percent(count / calls)}`);
  const isOpen = state !== "closed";
  return [
    { name: "state", title: "State", text: state, value: state, level: LEVELS[state] },
    {
      name: "since",
      title: `Since ${when(sinceMs)}`,
      text: age(nowMs - sinceMs),
      value: new Date(sinceMs).toISOString(),
    },
    { name: "calls", title: isOpen ? "Calls when it opened" : "Calls in the window", text: whole(calls), value: calls },
    { name: "failures", title: "Failed", text: `${whole(failures)}${share(failures)}`, value: failures },
    ...(structure.settings.slowRatio === undefined
      ? []
      : [{ name: "slow", title: "Slow", text: `${whole(slow)}${share(slow)}`, value: slow }]),
    {
      name: "probe",
      title: "Next probe",
      text: isOpen ? (retryAfterMs > 0 ? `in ${age(retryAfterMs)}` : "with the next call") : "–",
      value: isOpen ? `${retryAfterMs} ms` : null,
    },
  ];
}

function rulesOf({ settings }: StructureEntry): HTMLElement[] {
  const value = (name: string) => (typeof settings[name] === "number" ? (settings[name] as number) : undefined);
  const [span = 0, minimum = 0, cooldown = 0, probes = 1] = ["span", "minimumCalls", "cooldown", "probes"].map(value);
  const [failures, failureRatio, slowRatio, slowCall = 0] = ["failures", "failureRatio", "slowRatio", "slowCall"].map(
    value,
  );
  const within = `within ${duration(span)}`;
  const share = (ratio: number) => (ratio === 1 ? "all" : `more than ${percent(ratio)}`);
  const lines = [
    failures !== undefined && `Opens at ${counted(failures, "failed call")} ${within}.`,
    failureRatio !== undefined &&
      `Opens if ${share(failureRatio)} of at least ${counted(minimum, "call")} fail ${within}.`,
    slowRatio !== undefined &&
      `Opens if ${share(slowRatio)} of at least ${counted(minimum, "call")} last longer than ${duration(slowCall)}, ${within}.`,
    `Stays open for ${duration(cooldown)}. Then it closes after ${counted(probes, "successful probe")}.`,
  ];
  return lines.flatMap((line) => (line === false ? [] : h("p", {}, line)));
}

function buttonsOf(actions: Actions, { name }: StructureEntry): HTMLElement[] {
  const shown = quoted(name);
  const open = actions.button({
    ...{ action: "open", label: "Open…", target: "", yes: "Open the circuit" },
    question: `Open the circuit ${shown} of all processes for one cooldown? Its calls are rejected until then.`,
  });
  const close = actions.button({
    ...{ action: "close", label: "Close…", target: "", yes: "Close the circuit", isHarmless: true },
    question: `Close the circuit ${shown} of all processes, with an empty window? Its calls pass again.`,
  });
  return [h("div", { class: "buttons" }, open, close)];
}
