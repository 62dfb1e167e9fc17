import { argumentError, checkKnown } from "../../base/errors.ts";

/** The values of all labels of one group. */
export type Labels<Name extends string = string> = Readonly<Record<Name, string>>;

/** The group of every event whose labels are not kept. Each of its labels has the value `_other`. */
export const OTHER = "_other";
const MAX_LABELS = 16;
const MAX_LABEL_BYTES = 128;
/** A process keeps this many groups, or twice its `maxGroups`. More only if the store is known to keep them. */
const MAX_OWN = 65_536;
const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
const encoder = /* @__PURE__ */ new TextEncoder();

export function labelNames(argument: string, names: readonly string[]): readonly string[] {
  const isList = Array.isArray(names) && names.length > 0 && names.length <= MAX_LABELS;
  if (!isList) throw argumentError(argument, names, `an array of 1 to ${MAX_LABELS} names`);
  for (const [i, name] of names.entries()) {
    if (typeof name !== "string" || !NAME.test(name) || name === "__proto__")
      throw argumentError(`${argument}[${i}]`, name, "a name of at most 64 letters, digits and _, not a digit first");
    if (names.indexOf(name) < i) throw argumentError(`${argument}[${i}]`, name, "another name than those before it");
  }
  return Object.freeze([...names]);
}

export function labelValue(argument: string, value: unknown): string {
  const isText = typeof value === "string" && value.length <= MAX_LABEL_BYTES && !/\p{Surrogate}/u.test(value);
  if (isText && encoder.encode(value).length <= MAX_LABEL_BYTES) return value;
  throw argumentError(argument, value, `a string of at most ${MAX_LABEL_BYTES} bytes, without lone surrogates`);
}

type Branch = Map<string, Branch | number>;

/** The numbers of groups, by the values of their labels. */
export class GroupTree {
  readonly #root: Branch = new Map();

  numberOf(values: readonly string[]): number | undefined {
    let found: Branch | number | undefined = this.#root;
    for (let i = 0; i < values.length && found !== undefined; i++) found = (found as Branch).get(values[i]!);
    return found as number | undefined;
  }

  /**
   * The number of a group by its labels, if they are exactly the declared ones. Each event passes here: engines read a property fastest
   * in a loop over the names that an object has, which most often are in the declared order.
   */
  numberOfLabels(labels: Labels, names: readonly string[]): number | undefined {
    let found: Branch | number | undefined = this.#root;
    let i = 0;
    for (const name in labels) {
      if (name !== names[i++]) return this.#numberInOtherOrder(labels, names);
      found = (found as Branch).get(labels[name]!);
      if (found === undefined) return undefined;
    }
    return i === names.length ? (found as number) : undefined;
  }

  #numberInOtherOrder(labels: Labels, names: readonly string[]): number | undefined {
    let found: Branch | number | undefined = this.#root;
    for (const name of names) found = (found as Branch | undefined)?.get(labels[name]!);
    let count = 0;
    for (const _ in labels) count++;
    return count === names.length ? (found as number | undefined) : undefined;
  }

  set(values: readonly string[], number: number): void {
    let branch = this.#root;
    for (const value of values.slice(0, -1)) {
      const next = (branch.get(value) as Branch | undefined) ?? new Map();
      branch.set(value, next);
      branch = next;
    }
    branch.set(values.at(-1)!, number);
  }
}

/**
 * The groups that this process has seen, each with a number of its own. These numbers never change, so events that wait for the store
 * keep them. Number 0 is the group `_other`, which all groups share that the store does not keep.
 */
export class OwnGroups {
  /** The values of each group, in the order of the declared labels. */
  readonly values: (readonly string[])[] = [];
  readonly #names: readonly string[];
  readonly #maxGroups: number;
  readonly #keeps: (values: readonly string[]) => boolean;
  readonly #onFull: () => void;
  readonly #tree = new GroupTree();

  /**
   * `keeps`: whether the store is known to keep a group. `onFull` is called for each group that is not kept.
   */
  constructor(
    names: readonly string[],
    maxGroups: number,
    keeps: (values: readonly string[]) => boolean,
    onFull: () => void,
  ) {
    this.#names = names;
    this.#maxGroups = maxGroups;
    this.#keeps = keeps;
    this.#onFull = onFull;
    this.#keep(names.map(() => OTHER));
  }

  /** The number of a group. Throws ARGUMENT for labels that are not exactly the declared ones. */
  numberOf(labels: Labels): number {
    return this.#tree.numberOfLabels(labels, this.#names) ?? this.#add(labels);
  }

  #add(labels: Labels): number {
    const names = this.#names;
    checkKnown(labels, names, "labels");
    const values = names.map((name) => labelValue(`labels.${name}`, labels[name]));
    // Labels that a loop over their names does not find may be known.
    const known = this.#tree.numberOf(values);
    if (known !== undefined) return known;
    // The first groups of this process may not be those that the store keeps. Nor may those be that it kept when last asked: an append
    // finds out, so an event keeps its group until then.
    if (this.values.length <= Math.max(2 * this.#maxGroups, MAX_OWN) || this.#keeps(values)) return this.#keep(values);
    this.#onFull();
    return 0;
  }

  #keep(values: readonly string[]): number {
    this.#tree.set(values, this.values.length);
    return this.values.push(values) - 1;
  }
}
