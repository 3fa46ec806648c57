type Kind = "localStorage" | "sessionStorage";

/** What the browser would not keep, as long as the page is open: some keep nothing, and say so with an error at the first look. */
const unkept = new Map<string, string>();
const nameOf = (kind: Kind, key: string) => `${kind} ${key}`;

export function browserText(kind: Kind, key: string): string | null {
  const held = unkept.get(nameOf(kind, key));
  if (held !== undefined) return held;
  try {
    return globalThis[kind].getItem(key);
  } catch {
    return null;
  }
}

/** Null takes it away. */
export function keepBrowserText(kind: Kind, key: string, text: string | null): void {
  unkept.delete(nameOf(kind, key));
  try {
    if (text === null) globalThis[kind].removeItem(key);
    else globalThis[kind].setItem(key, text);
  } catch {
    if (text !== null) unkept.set(nameOf(kind, key), text);
  }
}
