import { GroupTree } from "./labels.ts";

/** Groups with rising numbers behind that of all others. They become more, and never change. */
export class NumberedGroups {
  /** The number of every group that has no number of its own, because there are too many. */
  readonly others: number;
  readonly maxGroups: number;
  readonly #values: (readonly string[])[] = [];
  readonly #tree = new GroupTree();

  constructor(others: number, maxGroups: number) {
    this.others = others;
    this.maxGroups = maxGroups;
  }

  get count(): number {
    return this.#values.length;
  }

  /** Whether events may have the number `others` because their group has none. */
  get isFull(): boolean {
    return this.count >= this.maxGroups;
  }

  add(values: readonly string[]): void {
    this.#values.push(values);
    this.#tree.set(values, this.others + this.count);
  }

  numberOf(values: readonly string[]): number | undefined {
    return this.#tree.numberOf(values);
  }

  valuesOf(number: number): readonly string[] | undefined {
    return this.#values[number - this.others - 1];
  }

  get values(): readonly (readonly string[])[] {
    return this.#values;
  }
}
