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
  { state, sinceMs, nowMs, calls, failures, slow, retryAfterMs, forcedMs, processes, failing }: BreakerPart,
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
    ...(structure.settings.quorum === undefined
      ? []
      : [
          {
            name: "processes",
            title: "See failures",
            text: `${whole(failing)} of ${counted(processes, "process")}`,
            value: failing,
          },
        ]),
    {
      name: "forced",
      title: "By an order",
      text: forcedMs > 0 ? `for ${age(forcedMs)} more` : "–",
      value: forcedMs > 0 ? `${forcedMs} ms` : null,
    },
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
  const [span = 0, minimum = 0, probes = 1, quorum] = ["span", "minimumCalls", "probes", "quorum"].map(value);
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
    quorum !== undefined &&
      `Opens for all only if ${quorum === 1 ? "all" : `more than ${percent(quorum)}`} of the processes see that.`,
    `Stays open for ${cooldownText(settings.cooldown)}. Then it closes after ${counted(probes, "successful probe")}.`,
  ];
  return lines.flatMap((line) => (line === false ? [] : h("p", {}, line)));
}

/** A length, or how it grows. */
function cooldownText(cooldown: unknown): string {
  if (typeof cooldown !== "object" || cooldown === null) return duration(Number(cooldown ?? 0));
  const { first, factor, longest } = cooldown as Record<string, number>;
  return `${duration(first ?? 0)}, after each failed probe ${factor} times as long, at most ${duration(longest ?? 0)}`;
}

/** Lengths of an order. "": until the cooldown is over, or until calls fail. */
const LENGTHS = ["", "10m", "1h", "1d"];

function buttonsOf(actions: Actions, { name, actions: offered }: StructureEntry): HTMLElement[] {
  if (!offered.includes("open")) return [];
  const shown = quoted(name);
  const length = h(
    "select",
    { "aria-label": "Length of the order" },
    ...LENGTHS.map((each) => h("option", { value: each }, each === "" ? "no end of its own" : each)),
  );
  const query = () => ({ duration: length.value });
  const open = () => {
    const until = length.value === "" ? "one cooldown" : length.value;
    const question = `Open the circuit ${shown} of all processes for ${until}? Its calls are rejected until then.`;
    void actions.act("open", { target: "", yes: "Open the circuit", question, query: query() });
  };
  const close = () => {
    const held = length.value === "" ? "" : ` For ${length.value} nothing opens it.`;
    const question = `Close the circuit ${shown} of all processes, with an empty window? Its calls pass again.${held}`;
    void actions.act("close", { target: "", yes: "Close the circuit", question, query: query() });
  };
  const reset = actions.button({
    ...{ action: "reset", label: "Reset…", target: "", yes: "Reset the circuit" },
    question: `Make a new circuit of ${shown}, for all processes? It is closed, and orders and counts are gone.`,
  });
  return [
    h(
      "div",
      { class: "buttons" },
      h("button", { type: "button", class: "danger", click: open }, "Open…"),
      h("button", { type: "button", click: close }, "Close…"),
      length,
      reset,
    ),
  ];
}
