import type { Operation } from "../../store/contract.ts";
import { type AcquireResult, type AcquireStep, acquire } from "./acquire.ts";
import { extend, type HoldRequest } from "./extend.ts";
import { type Release, release } from "./release.ts";

/** The steps of one kind of hold: exclusive, or shared by readers. */
export interface HoldSteps {
  readonly acquire: Operation<AcquireStep, AcquireResult>;
  readonly extend: Operation<HoldRequest, boolean>;
  readonly release: Operation<Release, boolean>;
  /** True if several hold the lock at once. Then a release passes it to nobody. */
  readonly isShared: boolean;
}

export const exclusive: HoldSteps = { acquire, extend, release, isShared: false };
