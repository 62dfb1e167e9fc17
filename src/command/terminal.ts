import pc from "picocolors";

/** A terminal's width, or undefined where the output goes elsewhere. */
export function widthOf(stream: object): number | undefined {
  const { isTTY, columns } = stream as { isTTY?: boolean; columns?: number };
  return isTTY === true ? columns : undefined;
}

/**
 * Whether to write colours. NO_COLOR forbids them (no-color.org), FORCE_COLOR asks for them also in a pipe; without both, only
 * a terminal that is not dumb gets them.
 */
export function hasColors(stream: object): boolean {
  const { NO_COLOR = "", FORCE_COLOR = "", TERM } = process.env;
  if (NO_COLOR !== "") return false;
  if (FORCE_COLOR !== "") return FORCE_COLOR !== "0";
  return (stream as { isTTY?: boolean }).isTTY === true && TERM !== "dumb";
}

export function colorsFor(stream: object): ReturnType<typeof pc.createColors> {
  return pc.createColors(hasColors(stream));
}
