import { beginningOf } from "../../kernel/text/character-start.ts";
import { type Refusal, refuse } from "../../kernel/errors.ts";
import { isStorableText } from "../../kernel/text/storable.ts";
import type { FileDescription } from "./caller.ts";

const MAX_LENGTH = 255;

export function unstorableFacts({ chatId, modelId, displayName }: FileDescription): Refusal | null {
  const texts = { chat_id: chatId, model_id: modelId, display_name: displayName };
  const fields = Object.entries(texts).flatMap(([field, text]) =>
    text == null || (text.length > 0 && text.length <= MAX_LENGTH && isStorableText(text))
      ? []
      : [{ field, message: `must be 1 to ${MAX_LENGTH} characters of text` }],
  );
  return fields.length === 0 ? null : refuse("invalid_body", undefined, { fields });
}

/** The last segment of a path, because old clients send whole paths; null if it is empty. */
export function baseName(name: string): string | null {
  const last = name.split(/[\\/]/).at(-1)?.trim() ?? "";
  return last === "" ? null : beginningOf(last, MAX_LENGTH);
}
