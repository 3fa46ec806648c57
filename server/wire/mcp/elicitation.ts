import { isObject, type JsonObject } from "../../kernel/json-value.ts";

/** Whether a client with these capabilities can be asked to open an address. An elicitation without modes is a form. */
export function supportsUrlElicitation(capabilities: JsonObject): boolean {
  return isObject(capabilities.elicitation) && capabilities.elicitation.url !== undefined;
}
