type Members = Readonly<Record<string, unknown>>;

/** Selects the attributes and sub-attributes that a response should have (RFC 7644, section 3.9). */
export function shownAttributes(resource: Members, query: URLSearchParams): Record<string, unknown> {
  const wanted = namesOf(query.get("attributes"));
  const unwanted = namesOf(query.get("excludedAttributes")) ?? [];
  const { schemas, id, ...others } = resource;
  return { schemas, id, ...(wanted === undefined ? without(others, new Names(unwanted)) : only(others, new Names(wanted))) };
}

const CORE = /^urn:ietf:params:scim:schemas:core:2\.0:(?:user|group):/;

function namesOf(text: string | null): string[] | undefined {
  if (text === null || text.trim() === "") return undefined;
  return text.split(",").map((name) => name.trim().toLowerCase().replace(CORE, ""));
}

/** Attribute names. Their sub-attributes are looked up once per attribute, because a group may have a hundred thousand members. */
class Names {
  private readonly all: ReadonlySet<string>;
  private readonly below = new Map<string, Names>();

  constructor(all: Iterable<string>) {
    this.all = new Set(all);
  }

  get size(): number {
    return this.all.size;
  }

  has(whole: string): boolean {
    return this.all.has(whole);
  }

  /** Sub-attributes follow a dot; attributes of an extension follow a colon. */
  partsOf(whole: string): Names {
    const known = this.below.get(whole);
    if (known !== undefined) return known;
    const named = [...this.all].filter((name) => name.startsWith(`${whole}.`) || name.startsWith(`${whole}:`));
    const parts = new Names(named.map((name) => name.slice(whole.length + 1)));
    this.below.set(whole, parts);
    return parts;
  }
}

function only(members: Members, names: Names): Record<string, unknown> {
  return ofEach(members, names, (isNamed, parts, value) => (isNamed ? value : parts.size === 0 ? undefined : ofParts(value, parts, only)));
}

function without(members: Members, names: Names): Record<string, unknown> {
  return ofEach(members, names, (isNamed, parts, value) =>
    isNamed ? undefined : parts.size === 0 ? value : ofParts(value, parts, without),
  );
}

function ofEach(
  members: Members,
  names: Names,
  shown: (isNamed: boolean, parts: Names, value: unknown) => unknown,
): Record<string, unknown> {
  const left = Object.entries(members).map(([name, value]) => {
    const whole = name.toLowerCase();
    return [name, shown(names.has(whole), names.partsOf(whole), value)] as const;
  });
  return Object.fromEntries(left.filter(([, value]) => value !== undefined));
}

/** Undefined if nothing is left of the value. */
function ofParts(value: unknown, parts: Names, shown: typeof only): unknown {
  if (Array.isArray(value)) {
    const left = value.map((one) => ofParts(one, parts, shown)).filter((one) => one !== undefined);
    return left.length === 0 && value.length > 0 ? undefined : left;
  }
  if (typeof value !== "object" || value === null) return value;
  const left = shown(value as Members, parts);
  return Object.keys(left).length === 0 ? undefined : left;
}

/** Whether group members need to be read at all. */
export function asksForMembers(query: URLSearchParams): boolean {
  const wanted = namesOf(query.get("attributes"));
  if (wanted !== undefined) return wanted.some((name) => name === "members" || name.startsWith("members."));
  return !(namesOf(query.get("excludedAttributes")) ?? []).includes("members");
}
