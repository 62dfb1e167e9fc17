import type { Keyspace } from "../../../src/store/contract.ts";
import type { Handle } from "../handle.ts";
import type { Plan } from "../plan.ts";
import type { ChunkBytes, law } from "../subject.ts";

export type Local = (keys: Keyspace, key: string, input: never, nowMs: number) => unknown;

/** A rule taken out of the code under test. */
export interface Mutation {
  /** The rule, and what is done instead. */
  readonly rule: string;
  /** Schedules in which the rule has something to do. */
  readonly suits?: (plan: Plan) => boolean;
  /** Conditions that make it likely that the rule is needed soon. */
  readonly conditions?: Partial<Plan>;
  /** Constants in place of the law's. */
  readonly constants?: Partial<typeof law>;
  /** Another in-process form of one operation, made of the true one. */
  readonly operation?: { readonly name: string; readonly local: (real: Local, handle: Handle) => Local };
  /** Anything else; returns how to put it back. */
  readonly patch?: () => () => void;
}

export const repeats = ({ weather }: Plan) => weather.repeated >= 0.05 || weather.lostReply >= 0.05;
export const repeatsLate = ({ weather }: Plan) => weather.repeated >= 0.05 && weather.repeatedLateMs >= 4_000;
export const repeatsTooLate = ({ weather }: Plan) => weather.repeated >= 0.05 && weather.repeatedLateMs > 20_000;
export const failsOver = ({ failovers, modes }: Plan) => failovers >= 2 && modes.replicas === 0;
export const isServerClock = ({ clock }: Plan) => clock === "server";

export const chunkOf = (keys: Keyspace, key: string) => keys.get(key) as ChunkBytes | undefined;
