import type { Call } from "../../../road/call.ts";
import { addTag } from "../../../road/record/add-tag.ts";
import { isObject, type JsonObject, type JsonValue } from "../../../kernel/json-value.ts";
import { edited, memberText } from "../../../wire/mcp/rpc.ts";
import type { ToolParts } from "../tool-parts.ts";

const CONNECTING: ReadonlySet<unknown> = new Set(["initialize", "server/discover"]);

/** Whether the answer to this method describes the server. */
export function isConnecting(method: string | null | undefined): boolean {
  return CONNECTING.has(method);
}

/** A server's instructions as the gates allow them for the caller's group; null if they are withheld. */
export async function guardedInstructions<T extends JsonValue>(
  call: Call,
  instructions: T,
  { gates }: Pick<ToolParts, "gates">,
): Promise<JsonValue> {
  if (instructions === null) return null;
  const offered = await gates.offered(call, [{ instructions }]);
  if (offered === null) return instructions;
  const [one] = offered;
  if (one === undefined) addTag(call, "instructions_withheld");
  return isObject(one) ? (one.instructions ?? null) : null;
}

/** The text of an answer with inspected instructions; null if it is unchanged. */
export async function guardedInstructionsText(
  call: Call,
  { text, value }: { readonly text: string; readonly value: JsonObject },
  parts: Pick<ToolParts, "gates">,
): Promise<string | null> {
  const { result } = value;
  if (!isObject(result) || result.instructions == null) return null;
  const instructions = await guardedInstructions(call, result.instructions, parts);
  if (instructions === result.instructions) return null;
  return edited(text, {
    result: edited(memberText(text, "result") ?? "{}", { instructions: instructions === null ? null : JSON.stringify(instructions) }),
  });
}
