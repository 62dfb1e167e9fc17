import { type Facts, type Measured, type Report, type Row, show } from "../runner/report.ts";
import { bars } from "./bars.ts";
import { STYLE } from "./style.ts";
import { escaped } from "./text.ts";

/**
 * A page with every table of a run, a plot of each of its numeric columns, the machine, the versions of the rivals, the
 * command, and the raw data. It loads nothing from elsewhere.
 */
export function htmlReport(run: Measured): string {
  const { facts, rivals, command, reports } = run;
  const data = JSON.stringify(run);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>oriel: benchmarks</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<h1>oriel: benchmarks</h1>
<p>Repeat it with <code>${escaped(command)}</code>. Both sides of each ratio ran in one run, on the same data, and every answer was
checked. Trust the ratios, not the absolute numbers of this machine.</p>
${factsTable("Environment", facts)}
${factsTable("Rivals", rivals)}
<nav aria-label="Benches"><ul>${reports.map(({ bench, title }) => `<li><a href="#${bench}">${escaped(title)}</a></li>`).join("")}</ul></nav>
${reports.map(section).join("\n")}
<h2 id="data">Raw data</h2>
<p><a download="oriel-bench.json" href="data:application/json,${encodeURIComponent(data)}">Download as JSON</a></p>
</body>
</html>
`;
}

function factsTable(title: string, facts: Facts): string {
  const rows = Object.entries(facts).map(
    ([name, value]) => `<tr><th scope="row">${escaped(name)}</th><td>${escaped(String(value))}</td></tr>`,
  );
  return `<section class="facts"><h2>${title}</h2><table>${rows.join("")}</table></section>`;
}

function section({ bench, title, rows, notes }: Report): string {
  const columns = Object.keys(rows[0] ?? {}).filter((name) => name !== "checksum");
  const numeric = columns.filter((name) => rows.some((row) => typeof row[name] === "number"));
  const labels = columns.filter((name) => !numeric.includes(name));
  const labelOf = (row: Row) => labels.flatMap((name) => row[name] || []).join(" · ");
  const plots = numeric.map((name) =>
    bars(
      name,
      rows.map((row) => ({ label: labelOf(row), value: row[name] })),
    ),
  );
  return `<section id="${bench}">
<h2>${escaped(title)}</h2>
<p class="command"><code>npm run bench -- --only ${bench}</code></p>
<div class="plots">${plots.join("")}</div>
<details><summary>Table</summary><div class="wide" tabindex="0"><table>
<thead><tr>${columns.map((name) => `<th scope="col">${escaped(name)}</th>`).join("")}</tr></thead>
<tbody>${rows.map((row) => `<tr>${columns.map((name) => cell(row[name])).join("")}</tr>`).join("\n")}</tbody>
</table></div></details>
${notes.length === 0 ? "" : `<ul class="notes">${notes.map((note) => `<li>${escaped(note)}</li>`).join("")}</ul>`}
</section>`;
}

function cell(value: string | number | undefined): string {
  return typeof value === "number" ? `<td class="number">${show(value)}</td>` : `<td>${escaped(value ?? "")}</td>`;
}
