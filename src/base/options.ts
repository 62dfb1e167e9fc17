import { argumentError, checkKnown } from "./errors.ts";
import { type Clock, durationMs } from "./time.ts";

/**
 * The declaration of one option. `check` returns the setting, or throws ARGUMENT. `absent` is the setting of an option that
 * is left out; if that is undefined, the check decides. `bounds` are further arguments of the check.
 */
// biome-ignore lint/suspicious/noExplicitAny: `satisfies Schema` compares the type of the value.
type Option<Value = any> = readonly [
  check: (argument: string, value: Value, ...bounds: never[]) => unknown,
  absent?: unknown,
  ...bounds: unknown[],
];

/** The declarations of the options of one call, by name. `satisfies Schema<SomeOptions>` holds both to the same names. */
export type Schema<Options> = { readonly [Name in keyof Options]-?: Option<NonNullable<Options[Name]>> };

/** The settings of a schema. That of the duration `wait` is `waitMs`. */
export type SettingsOf<S> = {
  [Name in keyof S & string as S[Name] extends readonly [typeof durationMs, ...unknown[]]
    ? `${Name}Ms`
    : Name]: S[Name] extends readonly [typeof oneOf, unknown, ...infer Allowed]
    ? Allowed[number]
    : S[Name] extends readonly [(...args: never[]) => infer Setting, (infer Absent)?, ...unknown[]]
      ? Setting | (undefined extends Absent ? never : Absent)
      : never;
};

/**
 * The settings that a structure announces in the registry, by their options. `Others` are the rest of the schema: a new option is
 * a type error until it is announced, or is one of them.
 */
export type Announced<S, Others extends keyof S> = Readonly<Record<Exclude<keyof S, Others>, unknown>>;

export function numberFrom(argument: string, value: number, min: number, max: number): number {
  if (typeof value !== "number" || !(value >= min && value <= max))
    throw argumentError(argument, value, `a number from ${min} to ${max}`);
  return value;
}

export function flag(argument: string, value: boolean): boolean {
  if (typeof value !== "boolean") throw argumentError(argument, value, "true or false");
  return value;
}

export function fn<F>(argument: string, value: F, what = "a function"): F {
  if (typeof value !== "function") throw argumentError(argument, value, what);
  return value;
}

export function oneOf<Text extends string>(argument: string, value: Text, ...allowed: readonly Text[]): Text {
  if (!allowed.includes(value))
    throw argumentError(argument, value, `"${allowed.slice(0, -1).join('", "')}" or "${allowed.at(-1)}"`);
  return value;
}

export function text(argument: string, value: string, allowed = "a string", form = /^/): string {
  if (typeof value !== "string" || !form.test(value)) throw argumentError(argument, value, allowed);
  return value;
}

export const CLOCK = [fn<Clock>, () => Date.now(), "a function that returns ms since 1970"] as const;

/** The check of a value that code beside the schema checks. */
export function given<Value>(_: string, value: Value): Value {
  return value;
}

/**
 * Checks options by their schema, and returns the settings. Throws ARGUMENT for an unknown option and for a wrong value. `of` is
 * the option whose value they are.
 */
export function settingsOf<const S extends Readonly<Record<string, Option>>>(
  schema: S,
  options: object,
  of?: string,
): SettingsOf<S> {
  checkKnown(options, Object.keys(schema), of);
  const settings: Record<string, unknown> = {};
  for (const name in schema) {
    const [check, absent, ...bounds] = schema[name]!;
    const value = (options as Record<string, unknown>)[name];
    settings[check === durationMs ? `${name}Ms` : name] =
      value === undefined && absent !== undefined
        ? absent
        : check(of ? `${of}.${name}` : name, value, ...(bounds as never[]));
  }
  return settings as SettingsOf<S>;
}
