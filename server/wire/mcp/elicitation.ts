import { isObject, type JsonObject } from "../../kernel/json-value.ts";

/** Whether a client with these capabilities can be asked to open a URL. Elicitation without declared modes supports forms only. */
export function supportsUrlElicitation(capabilities: JsonObject): boolean {
  return isObject(capabilities.elicitation) && capabilities.elicitation.url !== undefined;
}
