/** Dark or light: the system's choice, until the user makes one that this browser remembers. */

export type Theme = "system" | "light" | "dark";

const STORED = "hango.theme";

export function theme(): Theme {
  try {
    const stored = localStorage.getItem(STORED);
    return stored === "light" || stored === "dark" ? stored : "system";
  } catch {
    return "system"; // storage is switched off
  }
}

export function applyTheme(chosen: Theme): void {
  if (chosen === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
  try {
    if (chosen === "system") localStorage.removeItem(STORED);
    else localStorage.setItem(STORED, chosen);
  } catch {
    // It then lasts until the page is loaded again.
  }
}
