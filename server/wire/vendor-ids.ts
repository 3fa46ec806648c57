import { folded } from "../kernel/text/folded-name.ts";
import { ownEntry } from "../kernel/collections/own-entry.ts";
import { isObject, type JsonObject, type JsonValue } from "../kernel/json-value.ts";
import { isOwnItem } from "./responses/item-references.ts";

const foldings = (names: string): ReadonlySet<string> => new Set(names.trim().split(/\s+/).map(folded));

/** Members that hold one or several IDs of objects stored in a vendor's account. */
const IDS = foldings(`
  file_id file_ids vector_store_id vector_store_ids collection_ids library_ids container container_id environment_id
  cachedContent cached_content fileSearchStoreNames file_search_store_names
`);
/** Members that hold objects with such an ID. */
const WITH_ID = foldings("prompt container thread audio voice");
const FILE_ADDRESS = foldings("fileUri file_uri");
/** Members that hold an address, which is sent on as `fileUri` where the model is one of Google's. */
const ADDRESS = foldings("url image_url file_url video_url audio_url uri");
/** Addresses that belong to no account; those of Google's Files API and of buckets are only accessible with one. */
const PUBLIC = /^(?:data:|https?:\/\/)/i;
const OF_ACCOUNT = /^\s*(?:gs:|s3:|https?:[\\/]*(?:[^\\/?#]*@)?generativelanguage\.)/i;
const SKILL = folded("skill_id");
/** Skills that the vendors offer to everybody. */
const PUBLIC_SKILL: Readonly<Record<string, RegExp>> = { anthropic: /^/, skill_reference: /^openai-/ };
/** Items that OpenAI looks up by their ID if they come without this member. */
const CONTENT_OF: Readonly<Record<string, string>> = { reasoning: "encrypted_content", image_generation_call: "result" };
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
  if (isReference(holder, place)) fields.push(`${place}.id`);
  const isTool = place !== "" && typeof holder.type === "string" && holder.type.endsWith("tool_use");
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

/** Whether an item stands for one that its vendor keeps: `item_reference`, the same without a type, or an item without its content. */
function isReference(holder: JsonObject, place: string): boolean {
  const { type, id } = holder;
  if (!isFilled(id) || isOwnItem(id)) return false;
  if (type === undefined || type === null)
    return /^input\[\d+\]$/i.test(place) && (typeof holder.role !== "string" || (holder.content ?? null) === null);
  const content = ownEntry(CONTENT_OF, String(type));
  return type === "item_reference" || (content !== undefined && !isFilled(holder[content]));
}

function visitAll(list: readonly JsonValue[], place: string, fields: string[]): void {
  for (const [at, item] of list.entries())
    if (Array.isArray(item)) visitAll(item, `${place}[${at}]`, fields);
    else if (isObject(item)) visit(item, `${place}[${at}]`, fields);
}

function isVendorId(folding: string, value: JsonValue | undefined, holder: JsonObject): boolean {
  if (IDS.has(folding) && (Array.isArray(value) ? value.some(isFilled) : isFilled(value))) return true;
  if (WITH_ID.has(folding) && isObject(value) && isFilled(value.id)) return true;
  if (FILE_ADDRESS.has(folding)) return typeof value === "string" && value !== "" && (!PUBLIC.test(value) || OF_ACCOUNT.test(value));
  if (ADDRESS.has(folding)) return typeof value === "string" && OF_ACCOUNT.test(value);
  return folding === SKILL && isFilled(value) && ownEntry(PUBLIC_SKILL, String(holder.type))?.test(String(value)) !== true;
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
