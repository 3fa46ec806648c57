import type { ReplyContext } from "../conversation/codec.ts";
import type { PicturePart, ReplyPart } from "../conversation/reply.ts";
import type { JsonObject } from "../document.ts";
import { UniqueCallIds } from "../conversation/unique-call-ids.ts";

export type Status = "in_progress" | "completed" | "incomplete";

export function textContent(text: string): JsonObject {
  return { type: "output_text", text, annotations: [], logprobs: [] };
}

export function refusalContent(refusal: string): JsonObject {
  return { type: "refusal", refusal };
}

export function messageItem(id: string, content: readonly JsonObject[], status: Status): JsonObject {
  return { id, type: "message", role: "assistant", status, content: [...content] };
}

export function callItem(
  id: string,
  call: { readonly id: string; readonly name: string; readonly arguments: string },
  status: Status,
): JsonObject {
  return { id, type: "function_call", call_id: call.id, name: call.name, arguments: call.arguments, status };
}

/** The item in which the vendor's own picture tool gives what it made. */
export function pictureItem(id: string, { base64, mediaType }: Pick<PicturePart, "base64" | "mediaType">): JsonObject {
  return { id, type: "image_generation_call", status: "completed", output_format: mediaType.replace("image/", ""), result: base64 };
}

export function reasoningItem(id: string, text: string, sealed: string | null): JsonObject {
  return {
    id,
    type: "reasoning",
    summary: text === "" ? [] : [{ type: "summary_text", text }],
    ...(sealed === null ? {} : { encrypted_content: sealed }),
  };
}

/** Ids of the items of one answer, its calls' own ids included. */
export class ItemIds {
  readonly calls = new UniqueCallIds();
  private readonly callId: string;

  constructor({ callId }: ReplyContext) {
    this.callId = callId;
  }

  item(prefix: "msg" | "fc" | "rs" | "ig", index: number): string {
    return `${prefix}_${this.callId}${index.toString().padStart(2, "0")}`;
  }
}

/** The output of a whole answer: each part is an item of its own. `cut`: it ended in the middle of the last. */
export function outputItems(parts: readonly ReplyPart[], cut: boolean, context: ReplyContext): JsonObject[] {
  const ids = new ItemIds(context);
  const items: JsonObject[] = [];
  for (const [i, part] of parts.entries()) {
    const index = items.length;
    const status = cut && i === parts.length - 1 ? "incomplete" : "completed";
    switch (part.kind) {
      case "text":
        items.push(messageItem(ids.item("msg", index), [textContent(part.text)], status));
        break;
      case "refusal":
        items.push(messageItem(ids.item("msg", index), [refusalContent(part.text)], status));
        break;
      case "tool_call":
        items.push(callItem(ids.item("fc", index), { ...part, id: ids.calls.of(part.id) }, status));
        break;
      case "picture":
        items.push(pictureItem(ids.item("ig", index), part));
        break;
      case "reasoning": {
        const sealed = part.signature?.family === "openai" ? part.signature.value : null;
        if (part.text !== "" || sealed !== null) items.push(reasoningItem(ids.item("rs", index), part.text, sealed));
        break;
      }
    }
  }
  return items;
}
