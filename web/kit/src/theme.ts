import { keepBrowserText, browserText } from "./page-storage.ts";

export type ThemeChoice = "system" | "light" | "dark";

const KEY = "gatehouse.theme";
const dark = window.matchMedia("(prefers-color-scheme: dark)");

export function themeChoice(): ThemeChoice {
  const kept = browserText("localStorage", KEY);
  return kept === "light" || kept === "dark" ? kept : "system";
}

function apply(): void {
  const choice = themeChoice();
  document.documentElement.dataset.theme = choice === "system" ? (dark.matches ? "dark" : "light") : choice;
}

export function chooseTheme(choice: ThemeChoice): void {
  keepBrowserText("localStorage", KEY, choice === "system" ? null : choice);
  apply();
}

/** Applies the theme before the first paint, and again when the system's preference changes. */
export function followTheme(): void {
  apply();
  dark.addEventListener("change", apply);
}
