import type { Unit } from "../axes/units.ts";
import type { ScaleChoice } from "../axes/value-axis.ts";
import type { KeyPoints } from "../plot-points.ts";

export interface PictureSpec {
  readonly title: string;
  /** The name of the values, and the unit if it does not stand at the numbers. */
  readonly valueName: string;
  readonly unit: Unit;
  readonly scale: ScaleChoice;
  readonly percentiles: readonly number[];
  readonly spanMs: number;
  readonly everyMs: number;
  /** One panel each. */
  readonly panels: readonly KeyPoints[];
  readonly leftOutCount: number;
  /** A text for each guess, such as "unit ms, by its name". */
  readonly guesses: readonly string[];
}
