import { cpSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";
import llmstxt from "vitepress-plugin-llms";
import { withPlots } from "./plots.ts";
import { sidebar } from "./sidebar.ts";

/** The package as a browser loads it, so that the playground runs what users install. */
const built = fileURLToPath(new URL("../../dist/browser.js", import.meta.url));

export default defineConfig({
  title: "oriel",
  description: "Exact sliding-window statistics, limits, locks, counters and delayed work, shared through Redis.",
  lang: "en",
  ignoreDeadLinks: process.env.DOCS_DRAFT === "1",
  srcExclude: ["node_modules/**"],
  head: [["link", { rel: "icon", href: "data:," }]],
  // The default themes have too little contrast.
  markdown: {
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    config: withPlots,
  },
  buildEnd({ srcDir, outDir }) {
    cpSync(join(srcDir, "grafana"), join(outDir, "grafana"), { recursive: true });
  },
  themeConfig: {
    nav: [
      { text: "Start", link: "/start/install" },
      { text: "Structures", link: "/structures/series" },
      { text: "Operate", link: "/operate/production" },
      { text: "API", link: "/api/" },
      { text: "Playground", link: "/playground" },
    ],
    sidebar,
    search: {
      provider: "local",
      options: {
        miniSearch: {
          searchOptions: {
            // Pages that explain come before those that list names or numbers.
            boostDocument: (id) => (/\/structures\//.test(id) ? 2 : /\/(api|understand)\//.test(id) ? 0.3 : 1),
          },
        },
      },
    },
    outline: [2, 3],
  },
  vite: {
    plugins: [llmstxt({ ignoreFiles: ["api/**"] })],
    resolve: { alias: { oriel: built } },
    build: { chunkSizeWarningLimit: 2000 },
  },
});
