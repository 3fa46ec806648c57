import { knownName } from "./governed-names.ts";

type Members = Readonly<Record<string, unknown>>;

/** Two names that a case-insensitive parser treats as the same. */
export interface AmbiguousName {
  readonly name: string;
  /** The governed name, or the sibling's. */
  readonly other: string;
  /** The object with the ambiguous member. */
  readonly within: object;
}

/**
 * The first name that, case-folded, equals a sibling's name, or equals a governed name it is not identical to: a receiver
 * may read it in place of the other. Governed names are only looked for in objects of the protocol, not in free-form data.
 */
export function ambiguousName(value: unknown): AmbiguousName | null {
  const problem = nameProblem(value, Number.POSITIVE_INFINITY);
  return problem === TOO_DEEP ? null : problem;
}

/** Returned if objects and arrays are nested deeper than `levels`. */
export const TOO_DEEP = "too deep";

/** As `ambiguousName`, and also checks that nesting is at most `levels` deep, in one pass. */
export function nameProblem(value: unknown, levels: number): AmbiguousName | typeof TOO_DEEP | null {
  return problemFrom({ protocol: typeof value === "object" && value !== null ? [value] : [], data: [] }, levels);
}

/** The first name that equals a sibling's name when case-folded, for protocols whose names are case-insensitive. */
export function ambiguousNameIn(value: Members): AmbiguousName | null {
  const problem = problemFrom({ protocol: [], data: [value] }, Number.POSITIVE_INFINITY);
  return problem === TOO_DEEP ? null : problem;
}

function problemFrom(first: Level, levels: number): AmbiguousName | typeof TOO_DEEP | null {
  // The objects at the current level, those of free-form data apart from those of the protocol.
  let { protocol, data } = first;
  for (let level = 1; protocol.length + data.length > 0; level++) {
    if (level > levels) return TOO_DEEP;
    const below: Level = { protocol: [], data: [] };
    const found = onLevel(protocol, false, below) ?? onLevel(data, true, below);
    if (found !== null) return found;
    ({ protocol, data } = below);
  }
  return null;
}

interface Level {
  readonly protocol: object[];
  readonly data: object[];
}

function onLevel(values: readonly object[], isData: boolean, below: Level): AmbiguousName | null {
  for (const value of values) {
    if (Array.isArray(value)) {
      const to = isData ? below.data : below.protocol;
      for (const item of value as unknown[]) if (typeof item === "object" && item !== null) to.push(item);
    } else {
      const found = inObject(value as Members, isData ? null : below.protocol, below.data);
      if (found !== null) return found;
    }
  }
  return null;
}

/** `protocol` is null for an object within free-form data. */
function inObject(object: Members, protocol: object[] | null, data: object[]): AmbiguousName | null {
  let plain = true;
  let names = 0;
  for (const name in object) {
    const known = knownName(name);
    names++;
    if (!(protocol === null ? known.plain : known.plainInProtocol)) plain = false;
    if (protocol !== null && known.pretends !== null) return { name, other: known.pretends, within: object };
    const member = object[name];
    if (typeof member !== "object" || member === null) continue;
    if (protocol === null || known.holdsData || isForm(object, name, member)) data.push(member);
    else if (known.holdsNamed) named(member, protocol, data);
    else protocol.push(member);
  }
  return plain || names < 2 ? null : siblings(object);
}

/** For an object with free-form keys: its members are of the protocol, and its names are only compared with each other. */
function named(members: object, protocol: object[], data: object[]): void {
  data.push(members);
  for (const member of Object.values(members) as unknown[]) if (typeof member === "object" && member !== null) protocol.push(member);
}

/** Tool inputs and submitted forms are free-form data under names that have another meaning elsewhere in the protocol. */
function isForm(object: Members, name: string, member: object): boolean {
  if (Array.isArray(member)) return false;
  if (name === "input") return true;
  // A message from a model also has `content`, but there it belongs to the protocol.
  return name === "content" && typeof object.action === "string" && object.role === undefined && object.model === undefined;
}

function siblings(object: Members): AmbiguousName | null {
  const seen = new Map<string, string>();
  for (const name in object) {
    const { folding } = knownName(name);
    const other = seen.get(folding);
    if (other !== undefined) return { name, other, within: object };
    seen.set(folding, name);
  }
  return null;
}

const SHOWN = 100;

export function ambiguityOf({ name, other }: Omit<AmbiguousName, "within">): string {
  const shown = (text: string) => JSON.stringify(text.slice(0, SHOWN));
  return (
    `The names ${shown(name)} and ${shown(other)} are the same to parsers that do not care about case; send only one of ` +
    `them, as it is spelled.`
  );
}
