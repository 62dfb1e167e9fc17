import { age, counted, number, whole } from "../../../format.ts";
import type { CountersPart, ShardPart } from "../../parts.ts";
import type { StructureEntry } from "../../protocol.ts";
import { h, setText } from "../dom.ts";
import { Actions } from "../parts/actions.ts";
import { card } from "../parts/card.ts";
import { type Fact, Facts } from "../parts/facts.ts";
import { LivePart } from "../parts/live-part.ts";
import { quoted } from "../parts/quoted.ts";
import { RowsTable } from "../parts/rows-table.ts";
import { SaveLinks } from "../parts/save-links.ts";
import type { PanelMaker } from "./panel.ts";
import { settingsSection } from "./settings-panel.ts";

const MAX_SHOWN = 64;
/** All shards are read. */
const REFRESH_MS = 5000;
/** A drain that takes longer is late. */
const LATE_MS = 60_000;

/** The counts that wait for their table, by shard, and whether both match. */
export const countersPanel: PanelMaker = (structure, overview) => {
  const facts = new Facts("Counts");
  const hint = h("p", { class: "hint" }, "Loading…");
  const table = new RowsTable<ShardPart>("Shards", SHARD_COLUMNS, ({ shard }) => String(shard));
  const state = h("section", { "aria-label": "Counts" }, facts.element);
  const actions = new Actions(structure, overview, () => part.refresh());
  const buttons = h("div", { class: "buttons" });
  let before: CountersPart | undefined;
  let hasButtons = false;
  const part = new LivePart<CountersPart>({
    ...{ id: structure.id, part: "shards", element: state, everyMs: REFRESH_MS },
    show(answer) {
      facts.show(factsOf(answer, before));
      if (answer.total !== null) before = answer;
      const shown = [...answer.shards].filter(isWorthShowing).sort(byTrouble).slice(0, MAX_SHOWN);
      table.show(shown);
      table.element.hidden = shown.length === 0;
      setText(hint, hintOf(answer));
      const needsButtons = divergedOf(answer).length > 0;
      if (needsButtons !== hasButtons)
        buttons.replaceChildren(...(needsButtons ? rebaseButtons(actions, structure) : []));
      hasButtons = needsButtons;
    },
  });
  const save = new SaveLinks("the shards", ["json"]);
  save.show({ id: structure.id, part: "shards" });
  const beside = h("div", { class: "buttons" }, save.element, buttons);
  const shards = card("shards", "Shards", [beside], hint, table.element);
  const element = h("div", { class: "stack" }, state, shards, actions.element, settingsSection(structure));
  return { element, update() {}, close: () => part.close() };
};

const SHARD_COLUMNS = [
  { head: "Shard", cell: ({ shard }: ShardPart) => String(shard) },
  { head: "Waiting", className: "number", cell: ({ waiting }: ShardPart) => digits(waiting) },
  { head: "Lag", className: "number", cell: ({ lagMs }: ShardPart) => (lagMs === null ? "–" : age(lagMs)) },
  {
    ...{ head: "Batches stored", title: "Batches of this shard that its table has acknowledged: its generation." },
    className: "number wide",
    cell: ({ generation }: ShardPart) => whole(generation),
  },
  {
    head: "Table",
    cell: ({ verdict }: ShardPart) =>
      h("span", { class: verdict && verdict !== "fits" ? "error bad" : "" }, TEXTS[verdict ?? ""] ?? verdict ?? ""),
  },
  {
    ...{ head: "Doubtful", title: "Events that the table may already have, since no answer to their batch has come." },
    className: "number wide",
    cell: ({ inDoubt }: ShardPart) => digits(inDoubt),
  },
  { head: "Note", cell: ({ note }: ShardPart) => (note === "" ? "" : h("span", { class: "error" }, note)) },
];

const TEXTS: Record<string, string> = { "": "not compared", fits: "matches" };

function factsOf(answer: CountersPart, before: CountersPart | undefined): Fact[] {
  const { shards, waiting, hasSink } = answer;
  const lags = shards.flatMap(({ lagMs }) => lagMs ?? []);
  const longest = lags.length === 0 ? null : Math.max(...lags);
  const diverged = divergedOf(answer).length;
  const rate = rateOf(answer, before);
  return [
    { name: "waiting", title: "Events not in the table", text: digits(waiting), value: waiting },
    {
      name: "lag",
      title: "Longest lag",
      text: longest !== null ? age(longest) : waiting === "0" ? "none" : "–",
      value: longest === null ? null : `${longest} ms`,
      level: longest !== null && longest > LATE_MS ? "warn" : undefined,
    },
    {
      name: "diverged",
      title: "Diverged shards",
      text: hasSink || diverged > 0 ? `${diverged} of ${shards.length}` : "–",
      value: hasSink ? diverged : null,
      level: diverged > 0 ? "bad" : undefined,
    },
    ...(hasSink
      ? [
          {
            name: "total",
            title: "Counted in all",
            text: answer.total === null ? "–" : digits(answer.total),
            value: answer.total,
          },
          { name: "rate", title: "Counted /s", text: number(rate), value: rate },
        ]
      : []),
  ];
}

/** Events per second between two readings. */
function rateOf({ total, nowMs }: CountersPart, before: CountersPart | undefined): number | null {
  if (total === null || !before || before.total === null || nowMs <= before.nowMs) return null;
  return (Number(BigInt(total) - BigInt(before.total)) * 1000) / (nowMs - before.nowMs);
}

function divergedOf({ shards }: CountersPart): ShardPart[] {
  return shards.filter(({ verdict }) => verdict !== null && verdict !== "fits");
}

function isWorthShowing({ waiting, verdict, generation }: ShardPart): boolean {
  return waiting !== "0" || generation > 0 || (verdict !== null && verdict !== "fits");
}

/** Diverged ones first, then the longest lag, then the most counts. */
function byTrouble(a: ShardPart, b: ShardPart): number {
  const isDiverged = ({ verdict }: ShardPart) => Number(verdict !== null && verdict !== "fits");
  return isDiverged(b) - isDiverged(a) || (b.lagMs ?? -1) - (a.lagMs ?? -1) || Number(b.waiting) - Number(a.waiting);
}

function hintOf({ shards, hasSink }: CountersPart): string {
  const used = shards.filter(isWorthShowing).length;
  const first = used > MAX_SHOWN ? ` The ${MAX_SHOWN} with the most trouble are shown.` : "";
  const compared = hasSink
    ? ""
    : " They are not compared with their table, since the dashboard has no sink of this counter.";
  return `${counted(used, "shard")} of ${whole(shards.length)} have counted.${first}${compared}`;
}

function rebaseButtons(actions: Actions, { name }: StructureEntry): HTMLElement[] {
  const counter = quoted(name);
  const button = (target: string, effect: string) =>
    actions.button({
      ...{ action: "rebase", label: `Rebase and ${target} doubtful events…`, target, yes: "Rebase" },
      question: `Let the shards of ${counter} that do not match continue from their table? Events that the table may already have are ${effect}.`,
    });
  return [button("drop", "dropped, so some may be missing"), button("keep", "kept, so some may count twice")].flatMap(
    (each) => (each === "" ? [] : [each]),
  );
}

/** Decimal digits in groups. */
function digits(text: string): string {
  return BigInt(text).toLocaleString("en");
}
