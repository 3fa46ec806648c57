import { isObject, type JsonValue } from "../../kernel/json-value.ts";
import { type FieldProblem, JsonDocument } from "../json/document.ts";
import type { TextSlot } from "../inbound.ts";
import type { MediaRequest } from "../media-request.ts";
import { knownMembers, otherSlots, otherTexts, visitOthers } from "../texts/other-texts.ts";
import { modelProblems, PromptedRequest } from "../prompted-request.ts";

const KNOWN = knownMembers({ read: "input", plain: "user" });
const IN_PART: ReadonlySet<string> = new Set(["text"]);

/** POST /moderations in OpenAI's format, with texts or with texts and images. */
export class ModerationsRequest extends PromptedRequest {
  readonly names = { temperature: "temperature", maxTokens: "max_tokens", input: "input" };

  get media(): MediaRequest {
    return { choices: {}, measures: { input_characters: { field: "input", value: this.writtenCharacters } }, brings: {} };
  }

  texts(): readonly TextSlot[] {
    return [...this.others(), ...this.inputTexts()];
  }

  /** Unknown members next to the input and within its parts. */
  private others(): readonly TextSlot[] {
    const touch = (member: string) => this.document.touch(member);
    const slots = otherTexts(this.document.value, KNOWN, touch);
    const { input } = this.document.value;
    const visit = otherSlots(slots, "user", () => touch("input"));
    if (Array.isArray(input)) for (const item of input) if (isObject(item)) visitOthers(item, IN_PART, visit);
    return slots;
  }

  private inputTexts(): readonly TextSlot[] {
    const { input } = this.document.value;
    if (typeof input === "string") return [slot(input, (text) => this.document.set("input", text))];
    return (input as JsonValue[]).flatMap((item, index, items) => {
      if (typeof item === "string")
        return [
          slot(item, (text) => {
            items[index] = text;
            this.document.touch("input");
          }),
        ];
      if (!isObject(item) || typeof item.text !== "string") return [];
      return [
        slot(item.text, (text) => {
          item.text = text;
          this.document.touch("input");
        }),
      ];
    });
  }
}

function slot(text: string, replace: (text: string) => void): TextSlot {
  return { role: "user", kind: "text", text, replace };
}

/** Each problem names its field. */
export function readModerationsRequest(bytes: Uint8Array): ModerationsRequest | { readonly fields: readonly FieldProblem[] } {
  const document = JsonDocument.read(bytes);
  if (!(document instanceof JsonDocument)) return { fields: [document] };
  const fields = modelProblems(document);
  const { input } = document.value;
  const texts = typeof input === "string" || (Array.isArray(input) && input.length > 0 && input.every((item) => typeof item === "string"));
  const parts = Array.isArray(input) && input.length > 0 && input.every(isPart);
  if (!texts && !parts) fields.push({ field: "input", message: "must be a text, a list of texts or a list of text and image_url parts" });
  return fields.length > 0 ? { fields } : new ModerationsRequest(document);
}

function isPart(item: JsonValue): boolean {
  if (!isObject(item)) return false;
  if (item.type === "text") return typeof item.text === "string";
  return item.type === "image_url" && isObject(item.image_url ?? null) && typeof (item.image_url as { url?: unknown }).url === "string";
}
