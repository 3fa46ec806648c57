import type { JsonObject } from "../document.ts";
import { objectsOf, textOrJson } from "../openai/loose-fields.ts";

/** As ids of items are made here. Whatever was signed of such reasoning is kept by the call it led to, and the rest goes to no vendor. */
const OWN_REASONING = /^rs_[0-9A-HJKMNP-TV-Z]{26}\d{2,}$/;

/**
 * The fields of a Responses request that lean on what its provider stores, by the caller's names. An absent `store` is
 * none of them, although the vendor stores then: the caller did not ask for it.
 */
export function statefulFields(body: JsonObject): string[] {
  const fields: string[] = [];
  for (const name of ["previous_response_id", "conversation", "prompt"])
    if (body[name] !== undefined && body[name] !== null) fields.push(name);
  for (const name of ["store", "background"]) if (body[name] === true) fields.push(name);
  for (const [item, i] of objectsOf(body.input))
    if (item.type === "item_reference" && !OWN_REASONING.test(textOrJson(item.id) ?? "")) fields.push(`input[${i}]`);
  return fields;
}
