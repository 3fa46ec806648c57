/** Which attributes an answer is to have. */
export function shownAttributes(resource: Record<string, unknown>, query: URLSearchParams): Record<string, unknown> {
  const wanted = namesOf(query.get("attributes"));
  const unwanted = namesOf(query.get("excludedAttributes")) ?? [];
  const isOf = (attribute: string, name: string) =>
    name === attribute || name.startsWith(`${attribute}.`) || name.startsWith(`${attribute}:`);
  return Object.fromEntries(
    Object.entries(resource).filter(([name]) => {
      const attribute = name.toLowerCase();
      if (attribute === "schemas" || attribute === "id") return true;
      return wanted === undefined ? !unwanted.includes(attribute) : wanted.some((one) => isOf(attribute, one));
    }),
  );
}

const CORE = /^urn:ietf:params:scim:schemas:core:2\.0:(?:user|group):/;

function namesOf(text: string | null): string[] | undefined {
  if (text === null || text.trim() === "") return undefined;
  return text.split(",").map((name) => name.trim().toLowerCase().replace(CORE, ""));
}

/** Whether the members of groups are to be read at all. */
export function asksForMembers(query: URLSearchParams): boolean {
  const wanted = namesOf(query.get("attributes"));
  if (wanted !== undefined) return wanted.some((name) => name === "members" || name.startsWith("members."));
  return !(namesOf(query.get("excludedAttributes")) ?? []).includes("members");
}
