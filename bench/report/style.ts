/** The page's style, in both themes. */
export const STYLE = `
:root { --text: #1c2733; --soft: #56636f; --line: #d7dde3; --bar: #9fb1c1; --own: #1f6bb0; --back: #ffffff; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e4eaf0; --soft: #a3b0bc; --line: #33404c; --bar: #5a6b7a; --own: #6aaeea; --back: #12181e; }
}
body { max-width: 1340px; margin: 2rem auto; padding: 0 1rem; font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--back); }
h1, h2 { line-height: 1.2; }
section { margin: 2.5rem 0; }
section.facts { display: inline-block; vertical-align: top; margin: 0 3rem 1rem 0; }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
th, td { padding: 2px 12px 2px 0; border-bottom: 1px solid var(--line); text-align: left; }
.number { text-align: right; }
.wide { overflow-x: auto; }
.plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 320px), 1fr)); gap: 1.5rem; }
figure { margin: 0; }
figcaption { font-weight: 600; margin-bottom: .3rem; }
svg { width: 100%; max-width: 400px; height: auto; }
svg text { font-size: 13px; fill: var(--text); }
svg text.label { fill: var(--soft); }
svg rect { fill: var(--bar); }
svg rect.own { fill: var(--own); }
nav ul { columns: 24rem; padding-left: 1.2rem; }
a { color: var(--own); }
.command, .notes, summary { color: var(--soft); font-size: 13px; }
`;
