import type { ReplyContext } from "../conversation/codec.ts";
import type { PicturePart, ReplyPart } from "../conversation/reply.ts";
import type { TextPart } from "../conversation/conversation-parts.ts";
import { ANNOTATION_UNIT, responseAnnotation } from "../openai/annotations.ts";
import { TextPositions } from "../texts/text-positions.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { UniqueCallIds } from "../conversation/unique-call-ids.ts";
import { exactObject } from "../json/exact-tools.ts";
import { CLIENT_TOOLS } from "./client-tools.ts";
import { type OwnTool, ToolNames } from "./tool-names.ts";

export type Status = "in_progress" | "completed" | "incomplete";

export function textContent(text: string, annotations: readonly JsonObject[] = []): JsonObject {
  return { type: "output_text", text, annotations: [...annotations], logprobs: [] };
}

function citedContent({ text, citations = [] }: TextPart): JsonObject {
  const positions = new TextPositions(ANNOTATION_UNIT, citations.length === 0 ? "" : text);
  return textContent(
    text,
    citations.map((citation) => responseAnnotation(citation, positions)).filter((annotation) => annotation !== null),
  );
}

export function refusalContent(refusal: string): JsonObject {
  return { type: "refusal", refusal };
}

export function messageItem(id: string, content: readonly JsonObject[], status: Status): JsonObject {
  return { id, type: "message", role: "assistant", status, content: [...content] };
}

/** A call of one of the caller's tools, as the item type its client expects. */
export function callItem(id: string, tool: OwnTool, call: { readonly id: string; readonly arguments: string }, status: Status): JsonObject {
  const { kind, name, namespace } = tool;
  const group = namespace === null ? {} : { namespace };
  const own = CLIENT_TOOLS[kind];
  if (own === undefined) return { id, type: "function_call", call_id: call.id, name, ...group, arguments: call.arguments, status };
  const named = kind === "custom" ? { name } : {};
  return {
    id,
    type: own.call,
    call_id: call.id,
    ...named,
    ...group,
    ...own.membersOf(exactObject(call.arguments), call.arguments),
    status,
  };
}

/** The ID prefix of a call's item. */
export function callPrefix({ kind }: OwnTool): ItemPrefix {
  return CLIENT_TOOLS[kind]?.prefix ?? "fc";
}

/** An image as an item of the vendor's image generation tool. */
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

export type ItemPrefix = "msg" | "fc" | "rs" | "ig" | "ctc" | "lsh" | "sh" | "apc" | "tsc";

/** Assigns the IDs of one answer's items and calls, and resolves the tools called in it. */
export class ItemIds {
  readonly calls = new UniqueCallIds();
  private readonly callId: string;
  private readonly tools: ToolNames;

  constructor({ callId, request }: ReplyContext) {
    this.callId = callId;
    this.tools = new ToolNames(request);
  }

  tool(name: string): OwnTool {
    return this.tools.ownOf(name);
  }

  item(prefix: ItemPrefix, index: number): string {
    return `${prefix}_${this.callId}${index.toString().padStart(2, "0")}`;
  }
}

/** The output of a complete answer, with one item for each non-empty part. `cut`: the last item is incomplete. */
export function outputItems(parts: readonly ReplyPart[], cut: boolean, context: ReplyContext): JsonObject[] {
  const ids = new ItemIds(context);
  const items: JsonObject[] = [];
  const filledParts = parts.filter((part) => !((part.kind === "text" || part.kind === "refusal") && part.text === ""));
  for (const [i, part] of filledParts.entries()) {
    const index = items.length;
    const status = cut && i === filledParts.length - 1 ? "incomplete" : "completed";
    switch (part.kind) {
      case "text":
        items.push(messageItem(ids.item("msg", index), [citedContent(part)], status));
        break;
      case "refusal":
        items.push(messageItem(ids.item("msg", index), [refusalContent(part.text)], status));
        break;
      case "tool_call": {
        const tool = ids.tool(part.name);
        items.push(callItem(ids.item(callPrefix(tool), index), tool, { ...part, id: ids.calls.of(part.id) }, status));
        break;
      }
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
