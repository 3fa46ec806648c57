/** A member's API description as a form hint: "null" becomes "empty". */
export function memberHint(description: string): string {
  const text = description.replaceAll(/\bnull\b/g, "empty").replaceAll("`", "");
  return `${/^[a-z]+\b(?!_)/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text}.`;
}

/** Groups members with a common prefix ("pii_enabled", "pii_action") into sections if there are many. */
export function topicsOf(names: readonly string[]): readonly (readonly [topic: string, members: readonly string[]])[] {
  const topics = names
    .map((name) => name.replace(/_enabled$/, ""))
    .filter((topic) => names.filter((name) => name === topic || name.startsWith(`${topic}_`)).length > 1);
  const of = (name: string) =>
    topics.filter((topic) => name === topic || name.startsWith(`${topic}_`)).toSorted((a, b) => a.length - b.length)[0] ?? "";
  return [...Map.groupBy(names, of)];
}
