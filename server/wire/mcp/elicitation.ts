import { isObject, type JsonObject } from "../json/document.ts";

/** Whether a client with these capabilities can be asked to open an address. An elicitation without modes is a form. */
export function supportsUrlElicitation(capabilities: JsonObject): boolean {
  return isObject(capabilities.elicitation) && capabilities.elicitation.url !== undefined;
}
