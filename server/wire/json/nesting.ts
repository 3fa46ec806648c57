import { afterString, CLOSE_BRACE, CLOSE_BRACKET, OPEN_BRACE, OPEN_BRACKET, QUOTE } from "./json-members.ts";

/** Whether objects and arrays in a JSON text are nested deeper than `levels`. The text must be valid JSON. */
export function isNestedDeeper(text: string, levels: number): boolean {
  // Every level needs an opening and a closing character.
  if (text.length <= levels * 2) return false;
  let open = 0;
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at);
    if (code === OPEN_BRACE || code === OPEN_BRACKET) open++;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) open--;
    if (open > levels) return true;
    at = code === QUOTE ? afterString(text, at) : at + 1;
  }
  return false;
}

/** Maximum nesting of a request, so that all inspections reach every level. */
export const REQUEST_LEVELS = 100;

/** The path to where a value exceeds `levels`, shortened to its first steps: `messages[3].content`. */
export function deepPlace(value: object, levels: number): string {
  let place = "";
  let at: object = value;
  for (let step = 1; step <= MAX_REPORTED_STEPS; step++) {
    const deep = Object.entries(at).find(([, member]) => reaches(member, levels - step));
    if (deep === undefined) break;
    const [name, member] = deep as [string, object];
    place = placeIn(at, place, name);
    at = member;
  }
  return place;
}

/** The path of `member` in the object `holder` within `value`, shortened to its first steps: `messages[3].content`. */
export function memberPlace(value: object, holder: object, member: string): string {
  const names = [...(pathTo(value, holder) ?? []), member];
  let place = "";
  let at: unknown = value;
  for (const name of names.slice(0, MAX_REPORTED_STEPS)) {
    place = placeIn(at, place, name);
    at = (at as Record<string, unknown>)[name];
  }
  return place;
}

function pathTo(value: object, holder: object): string[] | null {
  if (value === holder) return [];
  for (const [name, member] of Object.entries(value) as [string, unknown][]) {
    const below = typeof member === "object" && member !== null ? pathTo(member, holder) : null;
    if (below !== null) return [name, ...below];
  }
  return null;
}

function placeIn(holder: unknown, place: string, name: string): string {
  return place + (Array.isArray(holder) ? `[${name}]` : `${place === "" ? "" : "."}${name.slice(0, MAX_NAME_LENGTH)}`);
}

const MAX_REPORTED_STEPS = 3;
const MAX_NAME_LENGTH = 100;

function reaches(value: unknown, levels: number): boolean {
  const isHolder = (one: unknown): one is object => typeof one === "object" && one !== null;
  let on = isHolder(value) ? [value] : [];
  for (let level = 0; level < levels && on.length > 0; level++) on = on.flatMap((holder) => Object.values(holder).filter(isHolder));
  return on.length > 0;
}
