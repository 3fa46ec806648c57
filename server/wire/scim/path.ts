import { type ScimAttribute, type ScimResourceType, attributeNamed } from "./attributes.ts";
import { parseFilter, type ScimFilter } from "./filter.ts";
import { ScimError } from "./scim-error.ts";

/** The target of a PATCH path: an attribute of the resource or of an extension, or a whole extension. */
export interface ScimPath {
  /** Extension schema ID; undefined for the core schema. */
  readonly extension: string | undefined;
  /** Undefined for the extension as a whole. */
  readonly attribute: ScimAttribute | undefined;
  readonly filter: ScimFilter | undefined;
  readonly sub: ScimAttribute | undefined;
}

const PATH = /^([A-Za-z$][\w$-]*)(?:\[([\s\S]*)\])?(?:\.([A-Za-z$][\w$-]*))?$/;

/** Null if the attribute is unknown. Throws `invalidPath` if the text is not a path. */
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
