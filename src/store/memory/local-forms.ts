import { OrielError } from "../../base/errors.ts";
import { version } from "../../generated/version.ts";
import type { Step } from "../contract.ts";

type LocalForm<Input, Output> = NonNullable<Step<Input, Output>["local"]>;

/** The large forms, by the names of their steps. Only a bundle that calls `bringLocalForms` has them. */
const brought: Record<string, LocalForm<never, unknown>> = {};

/** Called by what makes a store in memory, with the forms that the structures on it may need. */
export function bringLocalForms(forms: typeof brought): void {
  Object.assign(brought, forms);
}

/** How to run a step in this process. Throws MISMATCH. */
export function localFormOf<Input, Output>({ name, local, localFrom }: Step<Input, Output>): LocalForm<Input, Output> {
  if (local) return local;
  if (localFrom === version && brought[name]) return brought[name] as LocalForm<Input, Output>;
  throw new OrielError(
    "MISMATCH",
    "the store in memory is of another copy of oriel in this process, which has another version: load one version only",
  );
}
