import type { StructureEntry } from "../../protocol.ts";
import { change, routeNow } from "../address.ts";

export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Mark {
  readonly atMs: number;
  readonly text: string;
  /** Found in the registry, not added by the user. */
  readonly isFound?: boolean;
}

/** The view of a series, as the address names it. */
export interface ViewState {
  /** The window, if it does not move with the time. */
  readonly fixed: Span | undefined;
  readonly spanMs: number;
  /** The windows whose distributions are shown. */
  readonly a: Span | undefined;
  readonly b: Span | undefined;
  readonly below: number | undefined;
  readonly scale: "log" | "linear" | undefined;
  /** What dragging over a chart does. */
  readonly drag: "zoom" | "a" | "b";
  readonly marks: readonly Mark[];
}

const DEFAULT_SPAN = 300_000;
const MIN_SPAN = 20;
/** Columns of a view. */
export const BUCKETS = 120;

export function stateNow(): ViewState {
  const { query } = routeNow();
  const below = query.get("below");
  const scale = query.get("scale");
  const drag = query.get("drag");
  return {
    fixed: spanOf(query.get("window")),
    spanMs: Math.max(MIN_SPAN, Number(query.get("span")) || DEFAULT_SPAN),
    a: spanOf(query.get("a")),
    b: spanOf(query.get("b")),
    below: below !== null && below !== "" && Number.isFinite(Number(below)) ? Number(below) : undefined,
    scale: scale === "log" || scale === "linear" ? scale : undefined,
    drag: drag === "a" || drag === "b" ? drag : "zoom",
    marks: marksOf(query.get("marks") ?? ""),
  };
}

const SPANS = [60_000, 300_000, 900_000, 3_600_000, 21_600_000, 86_400_000, 604_800_000];

/** The spans to choose from. */
export function spansOf(retentionMs: number): number[] {
  return [...SPANS.filter((ms) => ms < retentionMs), retentionMs];
}

export function retentionMsOf({ settings }: StructureEntry): number {
  const { retention } = settings;
  return typeof retention === "number" && retention >= 1000 ? retention : 3_600_000;
}

/** "from-to", in ms since 1970. */
function spanOf(text: string | null): Span | undefined {
  const [, from, to] = /^(\d{1,15})-(\d{1,15})$/.exec(text ?? "") ?? [];
  const span = { fromMs: Number(from), toMs: Number(to) };
  return span.fromMs < span.toMs ? span : undefined;
}

export function textOf({ fromMs, toMs }: Span): string {
  return `${Math.round(fromMs)}-${Math.round(toMs)}`;
}

/** "time.text" for each mark, separated by "!". */
function marksOf(text: string): Mark[] {
  return text.split("!").flatMap((mark) => {
    const [, at, note = ""] = /^(\d{1,15})\.(.*)$/s.exec(mark) ?? [];
    return at === undefined ? [] : [{ atMs: Number(at), text: note }];
  });
}

export function setMarks(marks: readonly Mark[]): void {
  const text = marks.map(({ atMs, text }) => `${Math.round(atMs)}.${text.replaceAll("!", "")}`).join("!");
  change({ marks: text === "" ? null : text });
}

/** Shows this window. */
export function zoomTo({ fromMs, toMs }: Span): void {
  const middle = (fromMs + toMs) / 2;
  const half = Math.max(MIN_SPAN, toMs - fromMs) / 2;
  change({ window: textOf({ fromMs: Math.max(0, middle - half), toMs: middle + half }) });
}

/** Zooms by a factor around the middle, or moves by a share of the window. */
export function zoomBy({ fromMs, toMs }: Span, factor: number): void {
  const [middle, half] = [(fromMs + toMs) / 2, ((toMs - fromMs) / 2) * factor];
  zoomTo({ fromMs: middle - half, toMs: middle + half });
}

export function moveBy({ fromMs, toMs }: Span, share: number): void {
  const by = (toMs - fromMs) * share;
  zoomTo({ fromMs: fromMs + by, toMs: toMs + by });
}
