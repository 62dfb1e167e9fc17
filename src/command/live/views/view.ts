import type { Store } from "../../../entries/index.ts";
import type { Column } from "../columns.ts";
import type { Found } from "../find.ts";

/** The numbers of a structure at one moment. */
export interface Reading {
  /** Names and values, for people. */
  facts: readonly (readonly [name: string, value: string])[];
  table?: readonly Column[];
  json: Readonly<Record<string, unknown>>;
  overview: Overview;
}

/** What fits into a line of `oriel top`. */
export interface Overview {
  /** Events or calls per second. */
  rate?: number;
  p99?: number;
  /** Denied calls per second. */
  denied?: number;
  /** How long the oldest due message has been due. */
  lagMs?: number;
  /** Denied, waiting or open, or the settings of a structure without live numbers. */
  state: string;
  /** Calls are denied or rejected, or messages are dead. */
  isBad?: boolean;
}

/** A structure that is opened to read its numbers. */
export interface View {
  read(): Promise<Reading>;
  close(): Promise<void>;
}

export interface ViewOptions {
  /** Length of a series' window. */
  spanMs: number;
  percentiles: readonly number[];
  /** Of a series that the registry does not list. */
  values?: string | undefined;
  clock?: string | undefined;
  retentionMs?: number | undefined;
  /** Whether only `overview` is needed, so that costly reads are left out. */
  isOverview: boolean;
}

export type OpenView = (store: Store, found: Found, options: ViewOptions) => View;

export const nothingToClose = async (): Promise<void> => {};

/** A setting from the registry, which is foreign JSON. The structure's constructor checks it. */
export function setting<T>({ structure }: Found, name: string): T | undefined {
  return structure?.settings[name] as T | undefined;
}
