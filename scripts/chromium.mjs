// Chromium for the tests: ORIEL_CHROMIUM, what is on PATH or in macOS' applications, else the system's package.
import { spawnSync } from "node:child_process";

const CANDIDATES = [
  "chromium-headless-shell",
  "chromium",
  "chromium-browser",
  "google-chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

function succeeds(command, ...args) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  return spawnSync(command, args, { stdio: "ignore", env, timeout: 300_000 }).status === 0;
}

const works = (command) => succeeds(command, "--version");

/** Path of a program that can be started. */
export function findChromium() {
  const named = process.env.ORIEL_CHROMIUM;
  const found = (named ? [named] : CANDIDATES).find(works);
  return found && spawnSync("which", [found], { encoding: "utf8" }).stdout.trim();
}

/** Where none can be had, the tests that want it say so and are skipped. */
export function ensureChromium() {
  if (findChromium()) return;
  console.log("installing chromium-headless-shell");
  const asRoot = process.getuid?.() === 0 ? [] : ["sudo", "-n"];
  if (works("apt-get")) {
    const apt = (...args) => succeeds(...asRoot, "apt-get", ...args);
    apt("update");
    apt("install", "-y", "--no-install-recommends", "chromium-headless-shell");
  } else if (works("brew")) succeeds("brew", "install", "--cask", "chromium");
}
