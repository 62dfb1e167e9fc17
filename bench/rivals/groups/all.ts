import type { GroupsRival } from "./contract.ts";
import { oneSeries, seriesEach, seriesGroup } from "./oriel.ts";
import { postgres } from "./postgres.ts";
import { histogram, summary } from "./prom-client.ts";
import { duckdb, pandas } from "./python.ts";

export const GROUPS_RIVALS: readonly GroupsRival[] = [
  ...[seriesGroup, oneSeries, seriesEach],
  ...[histogram, summary, pandas, duckdb, postgres],
];
