import { OwnPictures } from "../conversation/own-pictures.ts";
import type { Turn } from "../conversation/request.ts";
import type { AssistantPart, TextPart, ToolResultPart } from "../conversation/conversation-parts.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { newCallId } from "../openai/call-id.ts";
import { filledOf, objectsOf, stringOf } from "../openai/loose-fields.ts";
import { NOT_ELSEWHERE, type ReadReport } from "../openai/read-report.ts";
import { answeredBy, calledBy } from "./client-tools.ts";
import { inputParts } from "./content-reader.ts";
import { isMessage } from "./input-items.ts";
import { callPart, messageParts, picturePart, reasoningPart, unreadParts } from "./output-item-reader.ts";
import type { ToolNames } from "./tool-names.ts";

/** Items without content for the model: actions of the vendor's tools, and settings whose tools are read elsewhere. */
const SAYS_NOTHING: ReadonlySet<unknown> = new Set(["web_search_call", "configuration_update"]);

/** `phase` says which of several messages is the answer, which their order shows as well. */
const MESSAGE_MEMBERS: ReadonlySet<string> = new Set(["type", "role", "content", "id", "status", "phase"]);

/**
 * Reads a response's input into turns. Consecutive assistant items form one turn, and so do the results of parallel calls.
 * System messages before all turns become instructions.
 */
export function readItems(input: unknown, names: ToolNames, report: ReadReport): { instructions: TextPart[]; turns: Turn[] } {
  if (typeof input === "string")
    return { instructions: [], turns: [{ role: "user", parts: input === "" ? [] : [{ kind: "text", text: input }] }] };
  const instructions: TextPart[] = [];
  const turns: Turn[] = [];
  const pictures = new OwnPictures();
  let assistant: AssistantPart[] | null = null;
  let results: ToolResultPart[] | null = null;
  const say = (parts: readonly (AssistantPart | null)[]) => {
    results = null;
    if (assistant === null) turns.push({ role: "assistant", parts: (assistant = []) });
    for (const part of parts) if (part !== null) assistant.push(part);
  };
  for (const [item, i] of objectsOf(input)) {
    const field = `input[${i}]`;
    if (isMessage(item)) report.dropOthers(item, MESSAGE_MEMBERS, "input[].");
    if (isMessage(item) && item.role === "assistant") {
      for (const part of unreadParts(item.content)) report.drop(`${field}.content[${part}]`);
      if (objectsOf(item.content).some(([part]) => objectsOf(part.annotations).length > 0)) report.drop("input[].content[].annotations");
      say(messageParts(item.content));
    } else if (item.type === "reasoning") say([reasoningPart(item)]);
    else if (item.type === "function_call" || calledBy(item) !== null) say([namedCall(item, i, names)]);
    else if (item.type === "function_call_output" || answeredBy(item) !== null) {
      if (isServerSide(item)) continue;
      assistant = null;
      const result = toolResult(item, field, report);
      if (results === null) turns.push({ role: "user", parts: (results = [result]) });
      else (results as ToolResultPart[]).push(result);
    } else if (isMessage(item)) {
      assistant = null;
      results = null;
      const parts = inputParts(item.content, `${field}.content`, report);
      if (item.role === "user") turns.push({ role: "user", parts: pictures.before(parts) });
      else if (item.role !== "system" && item.role !== "developer") report.refuse(`${field}.role`, "is not a role");
      else {
        const texts = parts.filter((part) => part.kind === "text");
        if (texts.length < parts.length) report.refuse(`${field}.content`, "must be texts here");
        if (turns.length === 0) instructions.push(...texts);
        else turns.push({ role: "system", parts: texts });
      }
    } else if (item.type === "image_generation_call") {
      const made = picturePart(item);
      if (made === null) report.drop(field);
      else pictures.add({ kind: "image", source: { base64: made.base64 }, mediaType: made.mediaType }, field);
    } else if (item.type === "agent_message") {
      assistant = null;
      results = null;
      turns.push({ role: "user", parts: pictures.before(inputParts(readable(item.content), `${field}.content`, report)) });
    } else if (SAYS_NOTHING.has(item.type)) report.drop(field);
    else if (item.type !== "additional_tools" && item.type !== "item_reference")
      report.refuse(field, `${NOT_ELSEWHERE}: an item of type ${JSON.stringify(item.type)}`);
  }
  for (const field of pictures.left) report.drop(field);
  return { instructions, turns };
}

/** A call of any tool that the client runs, under the tool's function name; null if it has no name. */
function namedCall(item: JsonObject, place: number, names: ToolNames): AssistantPart | null {
  const namespace = filledOf(item.namespace);
  const called = calledBy(item);
  if (called === null) {
    const call = callPart(item, () => newCallId("input", place));
    return call?.kind === "tool_call" ? { ...call, name: names.nameOf({ kind: "function", name: call.name, namespace }) } : call;
  }
  if (isServerSide(item)) return null;
  const [kind, tool] = called;
  const name = names.nameOf({ kind, name: filledOf(item.name) ?? kind, namespace });
  const id = filledOf(item.call_id) ?? filledOf(item.id) ?? newCallId("input", place);
  return { kind: "tool_call", id, name, arguments: JSON.stringify(tool.argumentsOf(item)) };
}

/** Tool searches run by the vendor; translated requests include all tools instead. */
function isServerSide(item: JsonObject): boolean {
  return (item.type === "tool_search_call" || item.type === "tool_search_output") && item.execution !== "client";
}

/** A message between a client's agents. Only the vendor's own models encrypt these, so the content is taken as text. */
function readable(content: unknown): unknown {
  return objectsOf(content).map(([part]) =>
    part.type === "encrypted_content" ? { type: "input_text", text: stringOf(part.encrypted_content) ?? "" } : part,
  );
}

function toolResult(item: JsonObject, field: string, report: ReadReport): ToolResultPart {
  const tool = answeredBy(item);
  return {
    kind: "tool_result",
    callId: filledOf(item.call_id) ?? (tool === null ? null : filledOf(item.id)) ?? "",
    toolName: null,
    content: inputParts(tool === null ? item.output : tool.resultOf(item), `${field}.output`, report),
    isError: false,
  };
}
