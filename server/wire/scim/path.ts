import { type ScimAttribute, type ScimResourceType, attributeNamed } from "./attributes.ts";
import { parseFilter, type ScimFilter } from "./filter.ts";
import { ScimError } from "./scim-error.ts";

/** What a path of a PATCH means: an attribute of the resource, of an extension of it, or the extension as a whole. */
export interface ScimPath {
  /** Id of the extension; undefined for the core schema. */
  readonly extension: string | undefined;
  /** Undefined: the extension as a whole. */
  readonly attribute: ScimAttribute | undefined;
  readonly filter: ScimFilter | undefined;
  readonly sub: ScimAttribute | undefined;
}

const PATH = /^([A-Za-z$][\w$-]*)(?:\[([\s\S]*)\])?(?:\.([A-Za-z$][\w$-]*))?$/;

/** Null: a path of an attribute that nobody knows here. Throws `invalidPath` for what is no path. */
export function parsePath(type: ScimResourceType, text: string): ScimPath | null {
  const lower = text.toLowerCase();
  const schema = [type.core, ...type.extensions].find(({ id }) => lower === id.toLowerCase() || lower.startsWith(`${id.toLowerCase()}:`));
  const extension = schema === undefined || schema === type.core ? undefined : schema.id;
  const rest = schema === undefined ? text : text.slice(schema.id.length + 1);
  if (schema !== undefined && rest === "") return { extension, attribute: undefined, filter: undefined, sub: undefined };
  if (schema === undefined && lower.startsWith("urn:")) return null;
  const parts = PATH.exec(rest);
  if (parts === null) throw new ScimError(400, "The path cannot be read.", "invalidPath");
  const [, name = "", filter, subName] = parts;
  const attribute = attributeNamed((schema ?? type.core).attributes, name);
  if (attribute === undefined) return null;
  const sub = subName === undefined ? undefined : attributeNamed(attribute.sub ?? [], subName);
  if (subName !== undefined && sub === undefined) return null;
  if (filter !== undefined && attribute.multi !== true)
    throw new ScimError(400, `${attribute.name} has one value and takes no filter.`, "invalidPath");
  return { extension, attribute, filter: filter === undefined ? undefined : parseFilter(filter), sub };
}
