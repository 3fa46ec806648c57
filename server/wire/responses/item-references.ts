import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import type { FieldProblem } from "../json/document.ts";
import { MAX_PROBLEMS } from "../openai/body-checks.ts";
import { filledOf, objectsOf } from "../openai/loose-fields.ts";

/** The form of the gateway's own item IDs, which are unknown to vendors. */
const OWN = /^(?:msg|fc|rs|ig|ctc|lsh|sh|apc|tsc)_[0-9A-HJKMNP-TV-Z]{26}\d{2,}$/;
/**
 * The input without reasoning that its vendor would refuse: reasoning encrypted by other vendors, and unencrypted
 * reasoning of answers written by the gateway, which a vendor would look up among its stored responses. Null if there is
 * nothing to remove.
 */
export function withoutStrangeThoughts(input: JsonValue | undefined, foreignSeals: ReadonlySet<string>): JsonValue[] | null {
  if (!Array.isArray(input)) return null;
  const kept = input.filter((item) => {
    if (!isObject(item) || item.type !== "reasoning") return true;
    const seal = filledOf(item.encrypted_content);
    return seal === null ? !OWN.test(filledOf(item.id) ?? "") : !foreignSeals.has(seal);
  });
  return kept.length === input.length ? null : kept;
}

/** The encrypted contents of reasoning and compacted conversations among items; only the account that encrypted them can decrypt them. */
export function sealsIn(items: JsonValue | undefined): string[] {
  return [...sealsOf("reasoning", items), ...compactionsIn(items)];
}

/** The encrypted contents of compacted conversations, which only their vendor can read. */
export function compactionsIn(items: JsonValue | undefined): string[] {
  return sealsOf("compaction", items);
}

function sealsOf(type: string, items: JsonValue | undefined): string[] {
  return objectsOf(items).flatMap(([item]) => (item.type === type ? (filledOf(item.encrypted_content) ?? []) : []));
}

/** In characters. Longer items are not stored, so clients must send them again. */
const MAX_LENGTH = 256 * 1024;

/** Whether the ID is that of an item of an answer written by the gateway. */
export function isOwnItem(id: JsonValue | undefined): boolean {
  return OWN.test(filledOf(id) ?? "");
}

/** Whether an item refers to such an item. */
export function isOwnReference(item: JsonObject): boolean {
  return item.type === "item_reference" && isOwnItem(item.id);
}

/** The items that later requests may reference, as JSON by ID; empty if the request has `store: false`. */
export function referableItems(output: readonly JsonObject[], request: JsonObject): Map<string, string> {
  const items = new Map<string, string>();
  if (request.store === false) return items;
  for (const { id, status: _status, ...item } of output) {
    // Reasoning can only go back to its own vendor, and signed reasoning is stored with the call it led to.
    if (typeof id !== "string" || item.type === "reasoning") continue;
    const written = JSON.stringify(item);
    if (written.length <= MAX_LENGTH) items.set(id, written);
  }
  return items;
}

/** The distinct IDs of items referenced by a request's input. */
export function namedItems(body: JsonObject): string[] {
  const ids = new Set<string>();
  for (const [item] of objectsOf(body.input)) if (isOwnReference(item) && !isReasoning(item)) ids.add(item.id as string);
  return [...ids];
}

/** The limit in bytes of JSON for all referenced items of a request, because one item may be referenced repeatedly. */
export const MAX_NAMED = 20 * 1024 * 1024;

/** The result of resolving a request's item references. */
export interface PutItems {
  /** One for each unknown reference, up to a maximum, and one for the first item beyond the size limit. */
  readonly problems: FieldProblem[];
  /** The total size of the inserted items as JSON. */
  readonly bytes: number;
}

/** The input with references replaced by the items they refer to. */
export function withNamedItems(input: readonly unknown[], kept: ReadonlyMap<string, string>): PutItems & { readonly input: unknown[] } {
  const problems: FieldProblem[] = [];
  let bytes = 0;
  const whole = input.flatMap((entry, i) => {
    const item = objectsOf([entry])[0]?.[0];
    if (item === undefined || !isOwnReference(item)) return [entry];
    if (isReasoning(item)) return [];
    if (bytes > MAX_NAMED) return [];
    const json = kept.get(item.id as string);
    if (json === undefined && problems.length < MAX_PROBLEMS)
      problems.push({
        field: `input[${i}].id`,
        message:
          "names an item that is not kept: items are kept for 24 hours, for the credential that was given them. " +
          "Send the item itself, as clients do that are told `store: false`",
      });
    if (json === undefined) return [];
    bytes += Buffer.byteLength(json);
    if (bytes <= MAX_NAMED) return [JSON.parse(json) as unknown];
    problems.push({
      field: `input[${i}].id`,
      message: "names more than a request may: the items that it names are at most 20 MiB together",
    });
    return [];
  });
  return { input: whole, problems, bytes };
}

function isReasoning(item: JsonObject): boolean {
  return String(item.id).startsWith("rs_");
}
