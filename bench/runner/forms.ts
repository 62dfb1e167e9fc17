import { forceKernel, type KernelName } from "../../src/entries/kernel.ts";
import { type Contender, medianRunUs, takeTurns } from "../lock/turns.ts";
import type { Row } from "./report.ts";

const FORMS: readonly KernelName[] = ["js", "wasm-scalar", "wasm-simd"];

/** One computation by rivals and by each form of the kernel. */
export interface Contest {
  /** First columns of its rows. */
  labels: Row;
  rivals: readonly Contender[];
  /** Which rivals the forms are compared with; NumPy's may be missing. */
  numpy: string;
  sort: string;
  ours(): unknown;
  /** Called with each form in use, before it is measured. */
  check(form: KernelName): void;
}

export interface Effort {
  turns: number;
  /** Runs of each contender in a turn. */
  repetitions: number;
}

/** Each form takes turns with the rivals. The forms do not alternate with each other, since each change would recompile the kernel. */
export async function compareForms(contest: Contest, { turns: count, repetitions }: Effort): Promise<Row[]> {
  const { rivals, numpy, sort } = contest;
  const rows: Row[] = [];
  let twin = Number.NaN;
  try {
    for (const form of FORMS) {
      forceKernel(form);
      contest.check(form);
      const ours = { name: form, turnUs: () => medianRunUs(repetitions, contest.ours) };
      const turns = await takeTurns([...rivals, ours], count);
      if (rows.length === 0) for (const { name } of rivals) rows.push(row(contest, name, turns.medianUs(name)));
      const [overNumpy, overSort] = [turns.timesFaster(form, numpy), turns.timesFaster(form, sort)];
      const yardstick = Number.isNaN(overNumpy) ? overSort : overNumpy;
      if (form === "js") twin = yardstick;
      rows.push(row(contest, form, turns.medianUs(form), overNumpy, overSort, yardstick / twin));
    }
  } finally {
    forceKernel(null);
  }
  return rows;
}

function row({ labels }: Contest, by: string, medianUs: number, ...faster: number[]): Row {
  const [timesFasterNumpy = Number.NaN, timesFasterSort = Number.NaN, timesFasterTwin = Number.NaN] = faster;
  return { ...labels, by, medianUs, timesFasterNumpy, timesFasterSort, timesFasterTwin };
}
