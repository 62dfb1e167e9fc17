import { h } from "./dom.ts";

const KEY = "oriel-theme";
const NEXT: Record<string, string> = { auto: "light", light: "dark", dark: "auto" };

/** Whether the page is dark now. */
export function isDark(): boolean {
  const { theme } = document.documentElement.dataset;
  return theme === "dark" || (theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
}

/** A choice of the browser, not of the view, so it is not in the address. Charts hear of it as "oriel:theme". */
export function themeButton(): HTMLElement {
  const button = h("button", {
    type: "button",
    class: "quiet theme",
    click: () => set(NEXT[document.documentElement.dataset.theme ?? "auto"]!),
  });
  const set = (theme: string) => {
    document.documentElement.dataset.theme = theme;
    button.textContent = `Theme: ${theme}`;
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // Storage may be off.
    }
    dispatchEvent(new Event("oriel:theme"));
  };
  let known: string | null = null;
  try {
    known = localStorage.getItem(KEY);
  } catch {
    // Storage may be off.
  }
  set(known !== null && known in NEXT ? known : "auto");
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => dispatchEvent(new Event("oriel:theme")));
  return button;
}
