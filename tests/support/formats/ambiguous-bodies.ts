/** Variants of a name that some parser accepts for it: by case, case folding, or Unicode compatibility. */
export function spellingsOf(name: string): string[] {
  const wide = (text: string) => text.replaceAll(/[a-z]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0));
  const made = [
    name.replace(/[a-z]/, (letter) => letter.toUpperCase()),
    name.toUpperCase(),
    name.replace("s", "\u017f"),
    name.replace("k", "\u212a"),
    wide(name),
  ];
  return [...new Set(made)].filter((spelling) => spelling !== name);
}

export const escaped = (name: string): string =>
  `"${Array.from({ length: name.length }, (_, at) => `\\u${name.charCodeAt(at).toString(16).padStart(4, "0")}`).join("")}"`;

type Place = readonly (string | number)[];

/** Every body in which one member of `base`, at any depth, is duplicated or replaced under a variant name with the value `evil`. */
export function* ambiguousBodies(
  base: object,
  evil: (value: unknown) => unknown,
): Generator<{ readonly at: string; readonly text: string }> {
  for (const { place, name, value } of membersOf(base, []))
    for (const spelling of spellingsOf(name))
      for (const written of [JSON.stringify(spelling), escaped(spelling)])
        for (const mode of ["before", "behind", "instead"] as const) {
          const other = `${written}:${JSON.stringify(evil(value))}`;
          const put = (own: string) => (mode === "before" ? `${other},${own}` : mode === "behind" ? `${own},${other}` : other);
          yield {
            at: `${[...place, spelling].join(".")} ${mode}`,
            text: textOf(base, [], (at, key) => key === name && same(at, place), put),
          };
        }
}

function* membersOf(value: unknown, place: Place): Generator<{ place: Place; name: string; value: unknown }> {
  if (typeof value !== "object" || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    if (!Array.isArray(value)) yield { place, name, value: member };
    yield* membersOf(member, [...place, name]);
  }
}

const same = (one: Place, other: Place) => one.length === other.length && one.every((key, at) => String(key) === String(other[at]));

function textOf(value: unknown, at: Place, here: (at: Place, name: string) => boolean, put: (own: string) => string): string {
  if (Array.isArray(value)) return `[${value.map((item, i) => textOf(item, [...at, i], here, put)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => {
    const own = `${JSON.stringify(name)}:${textOf(member, [...at, name], here, put)}`;
    return here(at, name) ? put(own) : own;
  });
  return `{${members.join(",")}}`;
}
