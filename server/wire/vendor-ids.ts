import { folded } from "../kernel/text/folded-name.ts";
import { isObject, type JsonObject, type JsonValue } from "../kernel/json-value.ts";
import { isOwnReference } from "./responses/item-references.ts";

const foldings = (names: string): ReadonlySet<string> => new Set(names.trim().split(/\s+/).map(folded));

/** Members that hold one or several IDs of objects stored in a vendor's account. */
const IDS = foldings(`
  file_id file_ids vector_store_id vector_store_ids container container_id environment_id cachedContent cached_content
  fileSearchStoreNames file_search_store_names
`);
/** Members that hold objects with such an ID. */
const WITH_ID = foldings("prompt container thread");
const FILE_ADDRESS = foldings("fileUri file_uri");
const SKILL = folded("skill_id");
/** Publicly accessible addresses, which belong to no account. */
const PUBLIC = /^(?:data:|https?:\/\/(?!generativelanguage\.googleapis\.com\b))/i;
/** Data exchanged with tools, and free-form schemas: member names in there have no meaning in the vendor's protocol. */
const DATA = foldings("metadata parameters input_schema inputSchema schema arguments args response parametersJsonSchema properties");

const isFilled = (value: JsonValue | undefined): boolean => typeof value === "string" && value !== "";

/**
 * The paths in a request that name objects stored at a vendor: files, containers, vector stores, templates, caches. If
 * several tenants share the vendor's account, their owner is unknown. The gateway's own files and responses are not
 * included.
 */
export function vendorIds(body: JsonObject): readonly string[] {
  const fields: string[] = [];
  visit(body, "", fields);
  return fields;
}

function visit(holder: JsonObject, place: string, fields: string[]): void {
  if (holder.type === "item_reference" && !isOwnReference(holder)) fields.push(`${place}.id`);
  const isTool = typeof holder.type === "string" && holder.type.endsWith("tool_use");
  for (const name of Object.keys(holder)) {
    const value = holder[name];
    const field = place === "" ? name : `${place}.${name}`;
    const folding = folded(name);
    if (DATA.has(folding) || (isTool && name === "input")) continue;
    if (isVendorId(folding, value, holder)) fields.push(field);
    else if (Array.isArray(value)) visitAll(value, field, fields);
    else if (isObject(value)) visit(value, field, fields);
  }
}

function visitAll(list: readonly JsonValue[], place: string, fields: string[]): void {
  for (const [at, item] of list.entries())
    if (Array.isArray(item)) visitAll(item, `${place}[${at}]`, fields);
    else if (isObject(item)) visit(item, `${place}[${at}]`, fields);
}

function isVendorId(folding: string, value: JsonValue | undefined, holder: JsonObject): boolean {
  if (IDS.has(folding) && (Array.isArray(value) ? value.some(isFilled) : isFilled(value))) return true;
  if (WITH_ID.has(folding) && isObject(value) && isFilled(value.id)) return true;
  if (FILE_ADDRESS.has(folding)) return typeof value === "string" && value !== "" && !PUBLIC.test(value);
  // The vendor's own skills are available to everybody.
  return folding === SKILL && isFilled(value) && holder.type === "custom";
}

const CACHES = foldings("cachedContent cached_content");
const TEMPLATES = foldings("prompt");

/** The members of a request that insert templates stored at a vendor: instructions and tools that the request does not show. */
export function vendorTemplates(body: JsonObject): readonly string[] {
  return Object.keys(body).filter((name) => {
    const folding = folded(name);
    return CACHES.has(folding) ? isFilled(body[name]) : TEMPLATES.has(folding) && isObject(body[name]);
  });
}
