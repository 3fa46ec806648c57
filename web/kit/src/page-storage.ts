type Kind = "localStorage" | "sessionStorage";

/** In-memory fallback for the lifetime of the page: some browsers refuse storage and throw on first access. */
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

/** A null text deletes the entry. */
export function keepBrowserText(kind: Kind, key: string, text: string | null): void {
  unkept.delete(nameOf(kind, key));
  try {
    if (text === null) globalThis[kind].removeItem(key);
    else globalThis[kind].setItem(key, text);
  } catch {
    if (text !== null) unkept.set(nameOf(kind, key), text);
  }
}
