import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { root } from "../house/sources.ts";
import { type Site, serve } from "../runtimes/site.ts";

export const built = join(root, "docs", ".vitepress", "dist");

const TYPES: Record<string, string> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".json": "application/json",
  ".woff2": "font/woff2",
  ".md": "text/markdown",
  ".txt": "text/plain",
  ".svg": "image/svg+xml",
};

/** Builds the site as `npm run docs:build` does. */
export function buildSite(): void {
  execFileSync(process.execPath, [join(root, "scripts", "docs", "build.mjs")], { cwd: root, stdio: "pipe" });
}

/** Paths of the built files, such as `start/install.html`. */
export function builtFiles(): string[] {
  return readdirSync(built, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(built.length + 1)
        .replaceAll("\\", "/"),
    );
}

export function serveSite(): Promise<Site> {
  const files = builtFiles().map((path) => [
    `/${path}`,
    [TYPES[extname(path)] ?? "application/octet-stream", readFileSync(join(built, path))] as const,
  ]);
  const all = Object.fromEntries(files);
  return serve({ ...all, "/": all["/index.html"] });
}

interface Reference {
  readonly from: string;
  readonly to: string;
  readonly anchor: string;
}

/** Links of the built pages to other pages of the site, without those of the frame around the text. */
export function linksOf(path: string): Reference[] {
  const html = mainOf(readFileSync(join(built, path), "utf8"));
  return [...html.matchAll(/<a [^>]*?href="([^"]*)"/g)]
    .map(([, href = ""]) => new URL(href.replaceAll("&amp;", "&"), `http://site/${path}`))
    .filter(({ host }) => host === "site")
    .map(({ pathname, hash }) => ({
      from: path,
      to: decodeURI(pathname).slice(1),
      anchor: decodeURIComponent(hash.slice(1)),
    }));
}

export function idsOf(path: string): Set<string> {
  const html = readFileSync(join(built, path), "utf8");
  return new Set([...html.matchAll(/ id="([^"]*)"/g)].map(([, id = ""]) => id));
}

function mainOf(html: string): string {
  return /<main[\s\S]*<\/main>/.exec(html)?.[0] ?? html;
}
