/** What was typed and not yet sent, kept in this tab alone: over a closed panel and over a reload. */
const PREFIX = "hango:draft:";

export function readDraft(name: string): string {
  try {
    return sessionStorage.getItem(PREFIX + name) ?? "";
  } catch {
    return ""; // The browser keeps nothing for this page.
  }
}

/** An empty text forgets the draft. */
export function keepDraft(name: string, text: string): void {
  try {
    if (text) sessionStorage.setItem(PREFIX + name, text);
    else sessionStorage.removeItem(PREFIX + name);
  } catch {
    // Full, or not allowed: the text is still in its field.
  }
}

/** Whoever signs in next in this tab is to find nothing of it. */
export function forgetDrafts(): void {
  try {
    for (const key of Object.keys(sessionStorage))
      if (key.startsWith(PREFIX)) sessionStorage.removeItem(key);
  } catch {
    // Nothing was kept.
  }
}
