import { asksForCitations, NO_CITATIONS } from "../../conversation/media-losses.ts";
import type { RequestWritten, TargetModel } from "../../conversation/codec.ts";
import type { ConversationRequest, OutputFormat } from "../../conversation/request.ts";
import type { JsonObject, JsonValue } from "../../../kernel/json-value.ts";
import { writeChatMessages } from "./messages-writer.ts";
import { chatFunctionMembers, chatToolChoice } from "./tools-writer.ts";
import { endUserName } from "../end-user.ts";
import { effortFor } from "../reasoning-effort.ts";
import { WriteReport } from "../write-report.ts";

/** Writes a conversation as a chat completion request. Streams request usage, on which metering depends. */
export function writeChatConversation(request: ConversationRequest, target: TargetModel): RequestWritten {
  const report = new WriteReport();
  const body: JsonObject = { model: target.name, messages: writeChatMessages(request, report) };
  if (request.turns.length === 0 && request.instructions.length === 0) report.refuse("messages", "there must be at least one message");

  if (request.tools.length > 0) {
    body.tools = request.tools.map((tool) => ({ type: "function", function: chatFunctionMembers(tool) }));
    if (request.tools.some(({ cache }) => cache !== undefined)) report.drop("cache");
    if (request.toolChoice !== null) body.tool_choice = chatToolChoice(request.toolChoice);
    if (request.parallelToolCalls !== null) body.parallel_tool_calls = request.parallelToolCalls;
  }
  const settings: Readonly<Record<string, JsonValue | null>> = {
    [target.maxTokensName ?? "max_completion_tokens"]: request.maxOutputTokens,
    temperature: request.temperature,
    top_p: request.topP,
    seed: request.seed,
    presence_penalty: request.presencePenalty,
    frequency_penalty: request.frequencyPenalty,
    n: request.candidates,
    user: request.endUser === null ? null : endUserName(request.endUser),
    reasoning_effort: request.reasoning === null ? null : effortFor(request.reasoning, target.name, report),
  };
  for (const [name, value] of Object.entries(settings)) if (value !== null) body[name] = value;
  if (request.stop.length > 0) body.stop = [...request.stop];
  if (request.stop.length > 4) report.refuse("stop", "this model takes at most 4 stop sequences");
  if (request.output !== null) body.response_format = outputFormat(request.output);
  if (asksForCitations(request)) report.refuse("citations", NO_CITATIONS);
  if (request.topK !== null) report.drop("top_k");
  if (request.logprobs !== null) report.refuse("logprobs", "log probabilities are not passed on from this model's provider");
  if (request.stream) {
    body.stream = true;
    body.stream_options = { include_usage: true };
  }
  return report.unsupported.length > 0 ? { unsupported: report.unsupported } : { body, dropped: report.dropped };
}

function outputFormat(output: OutputFormat): JsonObject {
  if (output.kind === "text") return { type: "text" };
  if (output.kind === "json") return { type: "json_object" };
  const held: JsonObject = { name: output.name, schema: output.schema as JsonObject };
  if (output.description !== null) held.description = output.description;
  if (output.strict !== null) held.strict = output.strict;
  return { type: "json_schema", json_schema: held };
}
