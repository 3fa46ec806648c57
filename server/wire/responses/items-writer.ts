import type { ConversationRequest } from "../conversation/request.ts";
import type { AssistantPart, ImagePart, FilePart, UserPart } from "../conversation/conversation-parts.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { callIdWithin } from "../openai/call-id.ts";
import { dataUrl } from "../openai/data-url.ts";
import { fileName, plainSource } from "../openai/files.ts";
import { resultContent } from "../openai/result-content.ts";
import type { WriteReport } from "../openai/write-report.ts";

/** OpenAI refuses longer call IDs in this format. */
const idOf = (id: string): string => callIdWithin(64, id);

/** Writes turns as input items, in order. A turn's tool results come first, directly after the calls. */
export function writeItems(request: ConversationRequest, report: WriteReport): JsonObject[] {
  const items: JsonObject[] = [];
  for (const turn of request.turns) {
    if (turn.role === "assistant") items.push(...assistantItems(turn.parts, report));
    else if (turn.role === "system") items.push(message("system", turn.parts, report));
    else {
      const own: UserPart[] = [];
      for (const part of turn.parts) {
        if (part.kind !== "tool_result") own.push(part);
        else items.push({ type: "function_call_output", call_id: idOf(part.callId), output: output(resultContent(part), report) });
        if (part.kind === "tool_result" && part.cache !== undefined) report.drop("cache");
      }
      if (own.length > 0 || turn.parts.length === 0) items.push(message("user", own, report));
    }
  }
  return items;
}

function message(role: "user" | "system", parts: readonly UserPart[], report: WriteReport): JsonObject {
  // A message without parts is refused, one with an empty text is not.
  return { type: "message", role, content: parts.length === 0 ? "" : content(parts, report) };
}

function output(parts: readonly UserPart[], report: WriteReport): string | JsonObject[] {
  const [first] = parts;
  if (first === undefined) return "";
  return parts.length === 1 && first.kind === "text" ? first.text : content(parts, report);
}

function assistantItems(parts: readonly AssistantPart[], report: WriteReport): JsonObject[] {
  const items: JsonObject[] = [];
  let messageParts: JsonObject[] | null = null;
  for (const part of parts) {
    if (part.kind === "text" || part.kind === "refusal") {
      if (messageParts === null) items.push({ type: "message", role: "assistant", content: (messageParts = []) });
      messageParts.push(
        part.kind === "text" ? { type: "output_text", text: part.text, annotations: [] } : { type: "refusal", refusal: part.text },
      );
      if (part.kind === "text" && part.cache !== undefined) report.drop("cache");
      continue;
    }
    messageParts = null;
    if (part.kind === "tool_call") {
      items.push({ type: "function_call", call_id: idOf(part.id), name: part.name, arguments: part.arguments });
      if (part.cache !== undefined) report.drop("cache");
    } else if (part.signature?.family === "openai") {
      // Reasoning is only accepted in encrypted form; other vendors' and unencrypted reasoning is left out.
      items.push({
        type: "reasoning",
        summary: part.text === "" ? [] : [{ type: "summary_text", text: part.text }],
        encrypted_content: part.signature.value,
      });
    }
  }
  return items;
}

function content(parts: readonly UserPart[], report: WriteReport): JsonObject[] {
  return parts.map((part) => contentPart(part, report)).filter((part) => part !== null);
}

function contentPart(part: UserPart, report: WriteReport): JsonObject | null {
  if ("cache" in part && part.cache !== undefined) report.drop("cache");
  switch (part.kind) {
    case "text":
      return { type: "input_text", text: part.text };
    case "image":
      return { type: "input_image", ...imageSource(part), detail: part.detail ?? "auto" };
    case "file":
      return filePart(part);
    case "audio":
      report.refuse("audio", "this model takes no audio");
      return null;
    case "tool_result":
      return null;
  }
}

function imageSource({ source, mediaType }: ImagePart): JsonObject {
  if ("fileId" in source) return { file_id: source.fileId };
  return { image_url: "url" in source ? source.url : dataUrl(source.base64, mediaType ?? "image/png") };
}

function filePart(part: FilePart): JsonObject {
  const { mediaType, name } = part;
  const source = plainSource(part);
  if ("text" in source) return { type: "input_text", text: source.text };
  const named = name === null ? {} : { filename: name };
  if ("fileId" in source) return { type: "input_file", file_id: source.fileId, ...named };
  if ("url" in source) return { type: "input_file", file_url: source.url, ...named };
  return { type: "input_file", file_data: dataUrl(source.base64, mediaType ?? "application/pdf"), filename: fileName(part) };
}
