import { type Check, type CheckName, worstOf } from "../../src/operate/doctor/check.ts";
import type { Report } from "../../src/operate/doctor/examine.ts";
import { command } from "../cli/command.ts";

export interface Examined {
  readonly status: number | null;
  readonly report: Report;
  /** All checks but that of the command's own kernel. */
  readonly ofServer: readonly Check[];
  /** The check of this name. Throws without one. */
  check(name: CheckName): Check;
  /** The names of the checks that are not good. */
  readonly findings: Partial<Record<CheckName, string>>;
}

/** Runs `oriel doctor --json`. A server that answers may take long for it, as on a slow machine, unless the options say less. */
export async function reportOf(url: string, ...options: string[]): Promise<Examined> {
  const { status, stdout, stderr } = await command([
    "doctor",
    url.startsWith("http") ? "--url" : "--redis",
    url,
    "--json",
    "--deadline",
    "1m",
    ...options,
  ]);
  if (stderr !== "") throw new Error(stderr);
  const full = JSON.parse(stdout) as Report;
  // A slow machine has long round trips to every server.
  const checks = full.checks.map((each) =>
    each.name === "latency" && each.verdict === "degraded" ? { ...each, verdict: "good" as const } : each,
  );
  const report: Report = { ...full, checks, verdict: worstOf(checks) };
  const isOnlySlow = report.verdict !== full.verdict;
  if (isOnlySlow && status !== 1) throw new Error(`status ${status} for "${full.verdict}"`);
  return {
    status: isOnlySlow ? 0 : status,
    report,
    ofServer: report.checks.filter(({ name }) => name !== "kernel"),
    check(name) {
      const found = report.checks.find((check) => check.name === name);
      if (!found) throw new Error(`no check ${name} in ${stdout}`);
      return found;
    },
    findings: Object.fromEntries(
      report.checks.flatMap(({ name, verdict }) => (verdict === "good" ? [] : [[name, verdict]])),
    ),
  };
}
