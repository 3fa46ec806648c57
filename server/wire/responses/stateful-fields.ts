import type { JsonObject } from "../../kernel/json-value.ts";
import { objectsOf } from "../openai/loose-fields.ts";
import { isOwnReference } from "./item-references.ts";

/**
 * The fields of a Responses request that depend on state stored at the provider, by the caller's names. A missing `store`
 * does not count, although the vendor then stores: the caller did not ask for it. Nor do items stored by the gateway.
 */
export function statefulFields(body: JsonObject): string[] {
  const fields: string[] = [];
  for (const name of ["previous_response_id", "conversation", "prompt"])
    if (body[name] !== undefined && body[name] !== null) fields.push(name);
  for (const name of ["store", "background"]) if (body[name] === true) fields.push(name);
  for (const [item, i] of objectsOf(body.input)) if (item.type === "item_reference" && !isOwnReference(item)) fields.push(`input[${i}]`);
  return fields;
}
