type Members = Readonly<Record<string, unknown>>;

/** Which attributes an answer is to have, and of those with parts which parts (RFC 7644, section 3.9). */
export function shownAttributes(resource: Members, query: URLSearchParams): Record<string, unknown> {
  const wanted = namesOf(query.get("attributes"));
  const unwanted = namesOf(query.get("excludedAttributes")) ?? [];
  const { schemas, id, ...others } = resource;
  return { schemas, id, ...(wanted === undefined ? without(others, unwanted) : only(others, wanted)) };
}

const CORE = /^urn:ietf:params:scim:schemas:core:2\.0:(?:user|group):/;

function namesOf(text: string | null): string[] | undefined {
  if (text === null || text.trim() === "") return undefined;
  return text.split(",").map((name) => name.trim().toLowerCase().replace(CORE, ""));
}

/** What the names say of the parts of one of them: of an attribute after a dot, of an extension after a colon. */
function partsNamed(names: readonly string[], whole: string): string[] {
  return names.filter((name) => name.startsWith(`${whole}.`) || name.startsWith(`${whole}:`)).map((name) => name.slice(whole.length + 1));
}

function only(members: Members, names: readonly string[]): Record<string, unknown> {
  return ofEach(members, names, (isNamed, parts, value) =>
    isNamed ? value : parts.length === 0 ? undefined : ofParts(value, parts, only),
  );
}

function without(members: Members, names: readonly string[]): Record<string, unknown> {
  return ofEach(members, names, (isNamed, parts, value) =>
    isNamed ? undefined : parts.length === 0 ? value : ofParts(value, parts, without),
  );
}

function ofEach(
  members: Members,
  names: readonly string[],
  shown: (isNamed: boolean, parts: readonly string[], value: unknown) => unknown,
): Record<string, unknown> {
  const left = Object.entries(members).map(([name, value]) => {
    const whole = name.toLowerCase();
    return [name, shown(names.includes(whole), partsNamed(names, whole), value)] as const;
  });
  return Object.fromEntries(left.filter(([, value]) => value !== undefined));
}

/** Undefined where nothing is left of it. */
function ofParts(value: unknown, parts: readonly string[], shown: typeof only): unknown {
  if (Array.isArray(value)) {
    const left = value.map((one) => ofParts(one, parts, shown)).filter((one) => one !== undefined);
    return left.length === 0 && value.length > 0 ? undefined : left;
  }
  if (typeof value !== "object" || value === null) return value;
  const left = shown(value as Members, parts);
  return Object.keys(left).length === 0 ? undefined : left;
}

/** Whether the members of groups are to be read at all. */
export function asksForMembers(query: URLSearchParams): boolean {
  const wanted = namesOf(query.get("attributes"));
  if (wanted !== undefined) return wanted.some((name) => name === "members" || name.startsWith("members."));
  return !(namesOf(query.get("excludedAttributes")) ?? []).includes("members");
}
