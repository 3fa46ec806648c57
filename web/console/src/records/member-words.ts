/** The API's own words on a member, as a form says them: what is null there is empty here. */
export function memberHint(description: string): string {
  const text = description.replaceAll(/\bnull\b/g, "empty").replaceAll("`", "");
  return `${/^[a-z]+\b(?!_)/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text}.`;
}

/** Members that begin alike ("pii_enabled", "pii_action") belong together: one fold each, where there are many. */
export function topicsOf(names: readonly string[]): readonly (readonly [topic: string, members: readonly string[]])[] {
  const topics = names
    .map((name) => name.replace(/_enabled$/, ""))
    .filter((topic) => names.filter((name) => name === topic || name.startsWith(`${topic}_`)).length > 1);
  const of = (name: string) =>
    topics.filter((topic) => name === topic || name.startsWith(`${topic}_`)).toSorted((a, b) => a.length - b.length)[0] ?? "";
  return [...Map.groupBy(names, of)];
}
