import type { Call } from "../../road/call.ts";
import type { Exchange } from "../../road/surface.ts";
import { routeOf } from "../../road/target.ts";
import { isObject, type JsonValue } from "../../kernel/json-value.ts";
import type { IsCallersText } from "../../wire/texts/other-answer-texts.ts";
import { REPEATED_OF_REQUEST } from "../../wire/responses/responses-answer-texts.ts";

/**
 * Tells whether a text only repeats the request or the model's system prompt, which some answers echo. The request is read on first use.
 */
export function callersTexts(call: Call, { conversation }: Exchange): IsCallersText {
  let known: ReadonlySet<string> | null = null;
  return (text) => {
    if (conversation === undefined) return false;
    known ??= textsIn(REPEATED_OF_REQUEST.map((name) => conversation.inbound.body[name]));
    if (known.has(text)) return true;
    return (routeOf(call)?.members ?? []).some(({ model: { systemPrompt } }) =>
      systemPrompt === null
        ? false
        : text === systemPrompt || (text.startsWith(`${systemPrompt}\n`) && known?.has(text.slice(systemPrompt.length + 1)) === true),
    );
  };
}

function textsIn(values: readonly (JsonValue | undefined)[]): ReadonlySet<string> {
  const texts = new Set<string>();
  const add = (value: JsonValue | undefined): void => {
    if (typeof value === "string") texts.add(value);
    else if (Array.isArray(value)) value.forEach(add);
    else if (isObject(value))
      for (const name in value) {
        texts.add(name);
        add(value[name]);
      }
  };
  values.forEach(add);
  return texts;
}
