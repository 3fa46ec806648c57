import type { ConversationRequest } from "../../conversation/request.ts";
import type { AssistantPart, FilePart, ImagePart, TextPart, ToolResultPart, UserPart } from "../../conversation/conversation-parts.ts";
import { groupToolResults } from "../../conversation/group-tool-results.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";
import { callIdWithin } from "../call-id.ts";
import { dataUrl } from "../data-url.ts";
import { fileName, plainSource } from "../files.ts";
import { resultContent } from "../result-content.ts";
import type { WriteReport } from "../write-report.ts";

/** OpenAI refuses longer call IDs in this format. */
const idOf = (id: string): string => callIdWithin(40, id);

/** Writes turns as chat messages. A turn may become several: each tool result is a separate message. */
export function writeChatMessages(request: ConversationRequest, report: WriteReport): JsonObject[] {
  const messages: JsonObject[] = [];
  if (request.instructions.length > 0) messages.push({ role: "system", content: content(request.instructions, report) });
  for (const turn of groupToolResults(request.turns)) {
    if (turn.role === "system") messages.push({ role: "system", content: content(turn.parts, report) });
    else if (turn.role === "assistant") messages.push(assistantMessage(turn.parts, report));
    else messages.push(...userMessages(turn.parts, report));
  }
  return messages;
}

/** Results come first, directly after their calls. Tool messages can contain only text, so media follow in a user message. */
function userMessages(parts: readonly UserPart[], report: WriteReport): JsonObject[] {
  const messages: JsonObject[] = [];
  const own: Exclude<UserPart, ToolResultPart>[] = [];
  const media: Exclude<UserPart, ToolResultPart>[] = [];
  for (const part of parts) {
    if (part.kind !== "tool_result") {
      own.push(part);
      continue;
    }
    if (part.cache !== undefined) report.drop("cache");
    const given = resultContent(part);
    const texts = given.filter((inner) => inner.kind === "text");
    const rest = given.filter((inner) => inner.kind !== "text");
    messages.push({ role: "tool", tool_call_id: idOf(part.callId), content: content(texts, report) });
    if (rest.length > 0) media.push({ kind: "text", text: `Returned by tool call ${idOf(part.callId)}:` }, ...rest);
  }
  if (own.length + media.length > 0 || messages.length === 0) messages.push({ role: "user", content: content([...media, ...own], report) });
  return messages;
}

function assistantMessage(parts: readonly AssistantPart[], report: WriteReport): JsonObject {
  const texts: TextPart[] = [];
  const calls: JsonObject[] = [];
  let refusal = "";
  for (const part of parts) {
    switch (part.kind) {
      case "text":
        texts.push(part);
        break;
      case "refusal":
        refusal += part.text;
        break;
      case "tool_call":
        if (part.cache !== undefined) report.drop("cache");
        calls.push({ id: idOf(part.id), type: "function", function: { name: part.name, arguments: part.arguments } });
        break;
      case "reasoning":
        // The format has no place for earlier reasoning; servers that return it refuse to get it back.
        break;
    }
  }
  const message: JsonObject = {
    role: "assistant",
    content: texts.length === 0 ? (calls.length > 0 || refusal !== "" ? null : "") : content(texts, report),
  };
  if (refusal !== "") message.refusal = refusal;
  if (calls.length > 0) message.tool_calls = calls;
  return message;
}

/** A single text is written as a plain string, which every server accepts. */
function content(parts: readonly Exclude<UserPart, ToolResultPart>[], report: WriteReport): string | JsonObject[] {
  for (const part of parts) if ("cache" in part && part.cache !== undefined) report.drop("cache");
  const [first] = parts;
  if (first === undefined) return "";
  if (parts.length === 1 && first.kind === "text") return first.text;
  return parts.map((part) => contentPart(part, report)).filter((part) => part !== null);
}

function contentPart(part: Exclude<UserPart, ToolResultPart>, report: WriteReport): JsonObject | null {
  switch (part.kind) {
    case "text":
      return { type: "text", text: part.text };
    case "image":
      return imagePart(part, report);
    case "file":
      return filePart(part, report);
    case "audio": {
      const format =
        part.mediaType === "audio/mpeg" || part.mediaType === "audio/mp3"
          ? "mp3"
          : part.mediaType === "audio/wav" || part.mediaType === "audio/x-wav"
            ? "wav"
            : null;
      if (format !== null) return { type: "input_audio", input_audio: { data: part.base64, format } };
      report.refuse("audio", `${part.mediaType} cannot be sent to this model: only wav and mp3 can`);
      return null;
    }
  }
}

function imagePart({ source, mediaType, detail }: ImagePart, report: WriteReport): JsonObject | null {
  if ("fileId" in source) {
    report.refuse("image", "an image cannot be named by a file id for this model: send its data or its address");
    return null;
  }
  const url = "url" in source ? source.url : dataUrl(source.base64, mediaType ?? "image/png");
  return { type: "image_url", image_url: { url, ...(detail === undefined ? {} : { detail }) } };
}

function filePart(part: FilePart, report: WriteReport): JsonObject | null {
  const { mediaType, name } = part;
  const source = plainSource(part);
  if ("text" in source) return { type: "text", text: source.text };
  if ("url" in source) {
    report.refuse("file", "a file cannot be given by its address to this model: send its data");
    return null;
  }
  if ("fileId" in source) return { type: "file", file: { file_id: source.fileId, ...(name === null ? {} : { filename: name }) } };
  return { type: "file", file: { filename: fileName(part), file_data: dataUrl(source.base64, mediaType ?? "application/pdf") } };
}
