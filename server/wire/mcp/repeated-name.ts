const QUOTE = 34;
const BACKSLASH = 92;

/** The first member name that stands twice in one object of the text, at any depth; null when none does. The text must be JSON. */
export function repeatedName(text: string): string | null {
  // Null stands for an array, whose strings are no names.
  const open: (Set<string> | null)[] = [];
  let expectsName = false;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) {
      const start = i;
      for (i++; text.charCodeAt(i) !== QUOTE; i++) if (text.charCodeAt(i) === BACKSLASH) i++;
      const names = open.at(-1);
      if (!expectsName || names == null) continue;
      const raw = text.slice(start + 1, i);
      const name = raw.includes("\\") ? (JSON.parse(`"${raw}"`) as string) : raw;
      if (names.has(name)) return name;
      names.add(name);
      expectsName = false;
    } else if (c === 123) {
      open.push(new Set());
      expectsName = true;
    } else if (c === 91) {
      open.push(null);
      expectsName = false;
    } else if (c === 125 || c === 93) {
      open.pop();
      expectsName = false;
    } else if (c === 44) expectsName = open.at(-1) != null;
  }
  return null;
}
