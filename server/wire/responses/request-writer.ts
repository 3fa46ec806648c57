import { asksForCitations, NO_CITATIONS } from "../conversation/media-losses.ts";
import type { RequestWritten, TargetModel } from "../conversation/codec.ts";
import type { ConversationRequest, OutputFormat, Reasoning, Tool, ToolChoice } from "../conversation/request.ts";
import type { JsonObject, JsonValue } from "../../kernel/json-value.ts";
import { endUserName } from "../openai/end-user.ts";
import { effortFor } from "../openai/reasoning-effort.ts";
import { WriteReport } from "../openai/write-report.ts";
import { writeItems } from "./items-writer.ts";

/**
 * Writes a conversation as a Responses request with `store: false`: the request contains the whole conversation, and the
 * answer includes its reasoning in encrypted form, to be sent back.
 */
export function writeResponsesConversation(request: ConversationRequest, target: TargetModel): RequestWritten {
  const report = new WriteReport();
  const body: JsonObject = { model: target.name };
  if (request.instructions.length > 0) body.instructions = request.instructions.map(({ text }) => text).join("\n");
  body.input = writeItems(request, report);
  if (request.turns.length === 0) report.refuse("messages", "there must be at least one turn beside the instructions");
  body.store = false;

  if (request.tools.length > 0) {
    body.tools = request.tools.map(functionTool);
    if (request.toolChoice !== null) body.tool_choice = choice(request.toolChoice);
    if (request.parallelToolCalls !== null) body.parallel_tool_calls = request.parallelToolCalls;
  }
  if (request.maxOutputTokens !== null) body.max_output_tokens = request.maxOutputTokens;
  if (request.temperature !== null) body.temperature = request.temperature;
  if (request.topP !== null) body.top_p = request.topP;
  if (request.output !== null) body.text = { format: outputFormat(request.output) };
  if (request.endUser !== null) body.safety_identifier = endUserName(request.endUser);
  if (request.stream) body.stream = true;
  writeReasoning(request, body, report);
  reportMissing(request, report);
  return report.unsupported.length > 0 ? { unsupported: report.unsupported } : { body, dropped: report.dropped };
}

/** Models without reasoning refuse requests for encrypted reasoning, so it is only requested together with reasoning. */
function writeReasoning({ reasoning, turns }: ConversationRequest, body: JsonObject, report: WriteReport): void {
  const members = reasoning === null ? {} : reasoningMembers(reasoning, String(body.model), report);
  if (Object.keys(members).length > 0) body.reasoning = members;
  const sealed = turns.some(
    ({ role, parts }) => role === "assistant" && parts.some((part) => part.kind === "reasoning" && part.signature?.family === "openai"),
  );
  if (sealed || (Object.keys(members).length > 0 && members.effort !== "none")) body.include = ["reasoning.encrypted_content"];
}

function reasoningMembers(reasoning: Reasoning, model: string, report: WriteReport): JsonObject {
  const members: JsonObject = {};
  const wanted = effortFor(reasoning, model, report);
  if (wanted !== null) members.effort = wanted;
  if (reasoning.visible === true) members.summary = "auto";
  return members;
}

function reportMissing(request: ConversationRequest, report: WriteReport): void {
  if ((request.candidates ?? 1) > 1) report.refuse("candidates", "this model gives one answer at a time");
  if (request.stop.length > 0) report.refuse("stop", "this model takes no stop sequences");
  if (request.logprobs !== null) report.refuse("logprobs", "log probabilities are not passed on from this model's provider");
  if (asksForCitations(request)) report.refuse("citations", NO_CITATIONS);
  if (request.seed !== null) report.drop("seed");
  if (request.topK !== null) report.drop("top_k");
  if ((request.presencePenalty ?? 0) !== 0) report.drop("presence_penalty");
  if ((request.frequencyPenalty ?? 0) !== 0) report.drop("frequency_penalty");
  if ([...request.instructions, ...request.tools].some(({ cache }) => cache !== undefined)) report.drop("cache");
}

/** Always explicit, because only this format defaults to strict. */
function functionTool({ name, description, schema, strict }: Tool): JsonObject {
  return {
    type: "function",
    name,
    ...(description === null ? {} : { description }),
    parameters: (schema as JsonObject | null) ?? null,
    strict: strict ?? false,
  };
}

function choice(wanted: ToolChoice): JsonValue {
  switch (wanted.kind) {
    case "tool":
      return { type: "function", name: wanted.name };
    case "subset":
      return {
        type: "allowed_tools",
        mode: wanted.required ? "required" : "auto",
        tools: wanted.names.map((name) => ({ type: "function", name })),
      };
    default:
      return wanted.kind;
  }
}

function outputFormat(output: OutputFormat): JsonObject {
  if (output.kind === "text") return { type: "text" };
  if (output.kind === "json") return { type: "json_object" };
  const format: JsonObject = { type: "json_schema", name: output.name, schema: output.schema as JsonObject };
  if (output.description !== null) format.description = output.description;
  if (output.strict !== null) format.strict = output.strict;
  return format;
}
