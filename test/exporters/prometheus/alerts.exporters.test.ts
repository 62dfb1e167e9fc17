import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { promtool } from "./server.ts";

const rules = fileURLToPath(new URL("../../../docs/grafana/alerts.yml", import.meta.url));

/** For each alert: series of one minute's steps under which it fires, and healthy ones. */
const CASES: Record<string, { firing: Record<string, string>; healthy: Record<string, string> }> = {
  OrielStoreDown: {
    firing: { 'oriel_store_up{server="a",instance="1"}': "1x30", 'oriel_store_up{server="a",instance="2"}': "0x30" },
    healthy: { 'oriel_store_up{server="a",instance="1"}': "1x30", 'oriel_store_up{server="a",instance="2"}': "1x30" },
  },
  OrielDeniedShare: {
    firing: {
      'oriel_limiter_decisions_total{name="a",policy="p",outcome="allowed"}': "0+60x30",
      'oriel_limiter_decisions_total{name="a",policy="p",outcome="denied"}': "0+30x30",
    },
    healthy: {
      'oriel_limiter_decisions_total{name="a",policy="p",outcome="allowed"}': "0+60x30",
      'oriel_limiter_decisions_total{name="a",policy="p",outcome="denied"}': "0+6x30",
    },
  },
  OrielQueueLate: {
    firing: {
      'oriel_queue_lateness_seconds_bucket{name="a",le="50"}': "0+5x30",
      'oriel_queue_lateness_seconds_bucket{name="a",le="100"}': "0+60x30",
      'oriel_queue_lateness_seconds_bucket{name="a",le="+Inf"}': "0+60x30",
    },
    healthy: {
      'oriel_queue_lateness_seconds_bucket{name="a",le="50"}': "0+60x30",
      'oriel_queue_lateness_seconds_bucket{name="a",le="100"}': "0+60x30",
      'oriel_queue_lateness_seconds_bucket{name="a",le="+Inf"}': "0+60x30",
    },
  },
  OrielQueueStuck: {
    firing: {
      'oriel_fleet_queue_messages{name="a",state="due"}': "4x30",
      'oriel_queue_lateness_seconds_count{name="a"}': "7x30",
    },
    healthy: {
      'oriel_fleet_queue_messages{name="a",state="due"}': "4x30",
      'oriel_queue_lateness_seconds_count{name="a"}': "0+5x30",
    },
  },
  OrielDeadLetters: {
    firing: { 'oriel_fleet_queue_messages{name="a",state="dead"}': "1x30" },
    healthy: { 'oriel_fleet_queue_messages{name="a",state="dead"}': "0x30" },
  },
  OrielBreakerOpen: {
    firing: { 'oriel_breaker_state{name="a",state="open"}': "1x30" },
    healthy: { 'oriel_breaker_state{name="a",state="open"}': "0x30" },
  },
  OrielDrainLag: {
    firing: { 'oriel_drain_lag_seconds{name="a"}': "90x30" },
    healthy: { 'oriel_drain_lag_seconds{name="a"}': "2x30" },
  },
  OrielNoDrain: {
    firing: {
      'oriel_drain_active{name="a",instance="1"}': "0x30",
      'oriel_drain_active{name="a",instance="2"}': "0x30",
    },
    healthy: {
      'oriel_drain_active{name="a",instance="1"}': "0x30",
      'oriel_drain_active{name="a",instance="2"}': "1x30",
    },
  },
  OrielDrainDiverged: {
    firing: { 'oriel_drain_diverged_shards{name="a"}': "1x30" },
    healthy: { 'oriel_drain_diverged_shards{name="a"}': "0x30" },
  },
};

test("promtool accepts the rules, and there is a case for each", () => {
  const { status, output } = promtool(["check", "rules", rules]);
  expect([status, output]).toEqual([0, expect.stringContaining(`SUCCESS: ${Object.keys(CASES).length} rules found`)]);
});

test.each(Object.entries(CASES))("%s fires when it must, and only then", (alert, { firing, healthy }) => {
  expect(fires(alert, firing)).toBe(true);
  expect(fires(alert, healthy)).toBe(false);
});

test("OrielNoDrain also fires if every process with a drain is gone", () => {
  const [gone, next] = ['oriel_drain_active{name="a",instance="1"}', 'oriel_drain_active{name="a",instance="2"}'];
  expect(fires("OrielNoDrain", { [gone]: "1x10 stale" })).toBe(true);
  expect(fires("OrielNoDrain", { [gone]: "1x10 stale", [next]: "_x11 1x30" })).toBe(false);
  expect(fires("OrielNoDrain", { up: "1x30" })).toBe(false); // this service has no drain
});

/** Whether the alert fires after 25 minutes of these series, by promtool's evaluation of the rules. */
function fires(alert: string, series: Record<string, string>): boolean {
  const folder = mkdtempSync(join(tmpdir(), "oriel-rules-"));
  const file = join(folder, "test.yml");
  const input = Object.entries(series).map(([name, values]) => ({ series: name, values }));
  const asked = { eval_time: "25m", alertname: alert, exp_alerts: [] };
  const tests = [{ interval: "1m", input_series: input, alert_rule_test: [asked] }];
  writeFileSync(file, JSON.stringify({ rule_files: [rules], evaluation_interval: "1m", tests }));
  const { status, output } = promtool(["test", "rules", file]);
  rmSync(folder, { recursive: true });
  if (status === 0) return false;
  // promtool quotes the alerts that it got.
  expect(output).toMatch(new RegExp(`alertname[:=]"?${alert}`));
  expect(output).toMatch(/got:\[\s*\d/);
  return true;
}
