import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import type { FieldProblem } from "../json/document.ts";
import { MAX_PROBLEMS } from "../openai/body-checks.ts";
import { filledOf, objectsOf } from "../openai/loose-fields.ts";

/** As the ids of items are made here: no vendor can know what they name. */
const OWN = /^(?:msg|fc|rs|ig|ctc|lsh|sh|apc|tsc)_[0-9A-HJKMNP-TV-Z]{26}\d{2,}$/;
/**
 * An input without the reasoning that its vendor would refuse: what others sealed, and that of answers which the gateway wrote. Nobody
 * sealed the latter, and a vendor that stores responses looks for it among its own. Null where there is none.
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

/** What reasoning and compacted conversations among items are sealed with: only the account that sealed them can open either. */
export function sealsIn(items: JsonValue | undefined): string[] {
  return [...sealsOf("reasoning", items), ...compactionsIn(items)];
}

/** The seals of compacted conversations: nothing but their vendor can tell what was said in those. */
export function compactionsIn(items: JsonValue | undefined): string[] {
  return sealsOf("compaction", items);
}

function sealsOf(type: string, items: JsonValue | undefined): string[] {
  return objectsOf(items).flatMap(([item]) => (item.type === type ? (filledOf(item.encrypted_content) ?? []) : []));
}

/** In characters. A longer item is sent again by whoever needs it. */
const LONGEST = 256 * 1024;

/** Whether an item stands for one of an answer that the gateway wrote. */
export function isOwnReference(item: JsonObject): boolean {
  return item.type === "item_reference" && OWN.test(filledOf(item.id) ?? "");
}

/** The items that later requests may name, as JSON by their ids. Who asks that nothing be stored sends them whole. */
export function referableItems(output: readonly JsonObject[], request: JsonObject): Map<string, string> {
  const items = new Map<string, string>();
  if (request.store === false) return items;
  for (const { id, status: _status, ...item } of output) {
    // Reasoning goes to no vendor but the one that sealed it, and what was sealed is kept by the call it led to.
    if (typeof id !== "string" || item.type === "reasoning") continue;
    const written = JSON.stringify(item);
    if (written.length <= LONGEST) items.set(id, written);
  }
  return items;
}

/** The ids of the items that a request's input names, each once. */
export function namedItems(body: JsonObject): string[] {
  const ids = new Set<string>();
  for (const [item] of objectsOf(body.input)) if (isOwnReference(item) && !isReasoning(item)) ids.add(item.id as string);
  return [...ids];
}

/** What the items that a request names come to together, in bytes of JSON: one may be named again and again. */
export const MOST_NAMED = 20 * 1024 * 1024;

/** What came of the items that a request names. */
export interface PutItems {
  /** One for each that is not known, as far as they are told, and for the first that is too much. */
  readonly problems: FieldProblem[];
  /** What they came to, as JSON. */
  readonly bytes: number;
}

/** An input with the items in the places that named them. */
export function withNamedItems(input: readonly unknown[], kept: ReadonlyMap<string, string>): PutItems & { readonly input: unknown[] } {
  const problems: FieldProblem[] = [];
  let bytes = 0;
  const whole = input.flatMap((entry, i) => {
    const item = objectsOf([entry])[0]?.[0];
    if (item === undefined || !isOwnReference(item)) return [entry];
    if (isReasoning(item)) return [];
    if (bytes > MOST_NAMED) return [];
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
    if (bytes <= MOST_NAMED) return [JSON.parse(json) as unknown];
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
