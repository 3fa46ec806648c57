import type { FieldError } from "../../kernel/errors.ts";
import { isObject } from "../../kernel/json-value.ts";
import { isWithin } from "../web-search/domains.ts";
import { type PolicyDocument, mergeRuleOf } from "./rules.ts";

/** The values of a document by `family.field`; unset fields are absent. */
export type Fields = ReadonlyMap<string, unknown>;

export const NOTHING: Fields = new Map();

/** Drops empty whitelists, since they constrain nothing. */
export function fieldsOf(document: PolicyDocument): Fields {
  const fields = new Map<string, unknown>();
  const add = (path: string, value: unknown) => {
    if (value === null || value === undefined) return;
    if (Array.isArray(value) && value.length === 0) return;
    fields.set(path, value);
  };
  for (const [family, inner] of Object.entries(document)) {
    if (isObject(inner)) for (const [field, value] of Object.entries(inner)) add(`${family}.${field}`, value);
    else add(family, inner);
  }
  return fields;
}

/** The inverse of `fieldsOf`. A whitelist that allows nothing is shown as an empty list; one that constrains nothing is left out. */
export function documentOf(fields: Fields): PolicyDocument {
  const document = new Map<string, unknown>();
  const families = new Map<string, [string, unknown][]>();
  for (const [path, value] of fields) {
    const dot = path.indexOf(".");
    if (dot < 0) {
      document.set(path, value);
      continue;
    }
    const name = path.slice(0, dot);
    const family = families.get(name) ?? [];
    family.push([path.slice(dot + 1), value]);
    families.set(name, family);
    document.set(name, family);
  }
  for (const [name, family] of families) document.set(name, Object.fromEntries(family));
  return Object.fromEntries(document);
}

/** Merges `own` with what is `inherited`: of each field the tighter value. */
export function merge(inherited: Fields, own: Fields): Fields {
  if (own.size === 0) return inherited;
  if (inherited.size === 0) return own;
  const merged = new Map(inherited);
  for (const [path, value] of own) {
    const above = inherited.get(path);
    merged.set(path, above === undefined ? value : tighterOf(path, above, value));
  }
  return merged;
}

/** The tighter of two values of a field. */
export function tighterOf(path: string, above: unknown, own: unknown): unknown {
  const rule = mergeRuleOf(path);
  switch (rule) {
    case "lowest":
      return Math.min(above as number, own as number);
    case "highest":
      return Math.max(above as number, own as number);
    case "either":
      return above === true || own === true;
    case "nearest":
      return own;
    case "intersect": {
      const allowed = new Set(own as string[]);
      return (above as string[]).filter((name) => allowed.has(name));
    }
    case "domains":
      return commonDomains(above as string[], own as string[]);
    case "unite":
      return [...new Set([...(above as string[]), ...(own as string[])])];
    default:
      return rule.indexOf(own as string) > rule.indexOf(above as string) ? own : above;
  }
}

function commonDomains(above: readonly string[], own: readonly string[]): string[] {
  const within = (names: readonly string[], domains: readonly string[]) =>
    names.filter((name) => domains.some((domain) => isWithin(name, domain)));
  return [...new Set([...within(own, above), ...within(above, own)])];
}

/** Each field of `own` that is looser than what is inherited. */
export function loosenedFields(inherited: Fields, own: Fields): FieldError[] {
  const fields: FieldError[] = [];
  for (const [path, value] of own) {
    const above = inherited.get(path);
    if (above === undefined) continue;
    const problem = looser(path, above, value);
    if (problem !== null) fields.push({ field: path, message: problem });
  }
  return fields;
}

function looser(path: string, above: unknown, own: unknown): string | null {
  const rule = mergeRuleOf(path);
  switch (rule) {
    case "lowest":
      return (own as number) > (above as number) ? `must be at most ${above}, which is inherited` : null;
    case "highest":
      return (own as number) < (above as number) ? `must be at least ${above}, which is inherited` : null;
    case "either":
      return above === true && own === false ? "must stay true, which is inherited" : null;
    case "intersect": {
      const allowed = new Set(above as string[]);
      const extra = (own as string[]).filter((name) => !allowed.has(name));
      return extra.length === 0 ? null : `may only name what is inherited; not: ${extra.slice(0, 10).join(", ")}`;
    }
    case "domains": {
      const extra = (own as string[]).filter((name) => !(above as string[]).some((domain) => isWithin(name, domain)));
      return extra.length === 0 ? null : `may only name domains within what is inherited; not: ${extra.slice(0, 10).join(", ")}`;
    }
    case "unite":
    case "nearest":
      return null;
    default:
      return rule.indexOf(own as string) < rule.indexOf(above as string)
        ? `must be ${rule.slice(rule.indexOf(above as string)).join(" or ")}: ${above} is inherited`
        : null;
  }
}
