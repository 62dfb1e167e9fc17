import { matcherOf } from "../find.ts";
import type { Row } from "./rows.ts";

const SORTS = ["problems", "kind", "name", "rate", "p99", "denied", "lag"] as const;

/** The choices of the user of `oriel top`. */
export interface TopState {
  sort: (typeof SORTS)[number];
  isReversed: boolean;
  /** Part of a name, or a pattern with * and ?. */
  filter: string;
  /** Keys go to the filter. */
  isTyping: boolean;
  /** Id of the selected row; "" before the first choice. */
  selected: string;
  /** Whether the selected row is shown alone. */
  isDetail: boolean;
}

export const FIRST_STATE: TopState = {
  sort: "problems",
  isReversed: false,
  filter: "",
  isTyping: false,
  selected: "",
  isDetail: false,
};

/** A key as readline reports it. */
export interface Key {
  name?: string | undefined;
  ctrl?: boolean | undefined;
  sequence?: string | undefined;
}

/** The numbers by which rows can be sorted. */
const NUMBERS = ["rate", "p99", "denied", "lag"] as const;

/** Whether the order depends on numbers, so that all rows must be read. */
export function isByNumber({ sort }: TopState): boolean {
  return sort === "problems" || (NUMBERS as readonly string[]).includes(sort);
}

/** The rows that the filter leaves, in their order. A row without a number is last. */
export function ordered(all: readonly Row[], state: TopState): Row[] {
  const { sort, isReversed, filter } = state;
  const isPattern = /[*?]/.test(filter);
  const matches = isPattern ? matcherOf(filter) : (name: string) => name.toLowerCase().includes(filter.toLowerCase());
  const byText = ({ structure: a }: Row, { structure: b }: Row) => compare(a.kind, b.kind) || compare(a.name, b.name);
  const byName = ({ structure: a }: Row, { structure: b }: Row) => compare(a.name, b.name) || compare(a.kind, b.kind);
  const numberOf = ({ numbers }: Row) => numbers?.[sort as (typeof NUMBERS)[number]] ?? undefined;
  const byNumber = (a: Row, b: Row) => {
    const [first, second] = [numberOf(a), numberOf(b)];
    if (first === undefined || second === undefined)
      return (first === undefined ? 1 : 0) - (second === undefined ? 1 : 0) || byText(a, b);
    return (isReversed ? first - second : second - first) || byText(a, b);
  };
  const byProblem = (a: Row, b: Row) => (isReversed ? -1 : 1) * (wellness(a) - wellness(b)) || byText(a, b);
  const found = all.filter(({ structure }) => matches(structure.name));
  if (sort === "problems") return found.sort(byProblem);
  if (isByNumber(state)) return found.sort(byNumber);
  const sorted = found.sort(sort === "name" ? byName : byText);
  return isReversed ? sorted.reverse() : sorted;
}

/** 0 for a structure that an operator should look at, else 1. */
function wellness({ structure, numbers }: Row): number {
  return numbers?.isBad || numbers?.error !== undefined || structure.conflict ? 0 : 1;
}

/** The index of the selected row; 0 if it is gone. */
export function indexOfSelected(rows: readonly Row[], { selected }: TopState): number {
  return Math.max(
    0,
    rows.findIndex(({ structure }) => structure.id === selected),
  );
}

/** The state after a key; undefined ends the command. `pageRows`: rows that fit on the screen. */
export function afterKey(state: TopState, key: Key, rows: readonly Row[], pageRows: number): TopState | undefined {
  if (key.ctrl && (key.name === "c" || key.name === "d")) return undefined;
  if (state.isTyping) return typed(state, key);
  const move = movesOf(pageRows)[key.name ?? ""];
  if (move !== undefined && !state.isDetail) {
    const index = Math.min(Math.max(0, indexOfSelected(rows, state) + move), rows.length - 1);
    return { ...state, selected: rows[index]?.structure.id ?? "" };
  }
  switch (key.name ?? key.sequence) {
    case "q":
      return undefined;
    case "return":
    case "enter":
      return {
        ...state,
        selected: rows[indexOfSelected(rows, state)]?.structure.id ?? "",
        isDetail: !state.isDetail && rows.length > 0,
      };
    case "escape":
    case "backspace":
      return state.isDetail ? { ...state, isDetail: false } : { ...state, filter: "" };
    case "s":
      return { ...state, sort: SORTS[(SORTS.indexOf(state.sort) + 1) % SORTS.length]! };
    case "r":
      return { ...state, isReversed: !state.isReversed };
    default:
      return key.sequence === "/" ? { ...state, isTyping: true, isDetail: false } : state;
  }
}

function movesOf(pageRows: number): Record<string, number> {
  return {
    ...{ up: -1, k: -1, down: 1, j: 1 },
    ...{ pageup: -pageRows, pagedown: pageRows, home: Number.NEGATIVE_INFINITY, end: Number.POSITIVE_INFINITY },
  };
}

function typed(state: TopState, { name, ctrl, sequence = "" }: Key): TopState {
  if (name === "return" || name === "enter") return { ...state, isTyping: false };
  if (name === "escape") return { ...state, isTyping: false, filter: "" };
  if (name === "backspace") return { ...state, filter: [...state.filter].slice(0, -1).join("") };
  return ctrl || /\p{Cc}/u.test(sequence) ? state : { ...state, filter: state.filter + sequence };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
