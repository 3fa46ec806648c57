import type { RequestRead } from "../conversation/codec.ts";
import type { ConversationRequest, Reasoning } from "../conversation/request.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { asksNothing } from "../json/document.ts";
import { readEffort, readOutputFormat } from "../openai/answer-settings.ts";
import { booleanOf, filledOf, looseListOf, numberOf, objectOf, wholeOf } from "../openai/loose-fields.ts";
import { NOT_ELSEWHERE, ReadReport } from "../openai/read-report.ts";
import { readItems } from "./items-reader.ts";
import { statefulFields } from "./stateful-fields.ts";
import { readToolChoice } from "./tool-choice.ts";
import { ToolNames } from "./tool-names.ts";

/** Members that are translated, or that have no effect on the answer. */
const READ: ReadonlySet<string> = new Set([
  "model",
  "model_id",
  "input",
  "instructions",
  "stream",
  "stream_options",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "max_output_tokens",
  "temperature",
  "top_p",
  "top_logprobs",
  "text",
  "reasoning",
  "include",
  "user",
  "safety_identifier",
  "previous_response_id",
  "conversation",
  "prompt",
]);

/** Members whose loss would change the result. */
const REFUSED: ReadonlySet<string> = new Set(["context_management", "moderation"]);

const TEXT_MEMBERS: ReadonlySet<string> = new Set(["format"]);

const itself = (tool: JsonObject) => tool;

/** Reads a Responses request as a conversation. `body` has passed `readResponsesRequest`. */
export function readResponsesConversation(body: JsonObject): RequestRead {
  const report = new ReadReport();
  for (const field of statefulFields(body)) report.refuse(field, "needs a provider that stores responses, and this model's does not");
  const names = new ToolNames(body);
  for (const { field, message } of names.problems) report.refuse(field, message);
  for (const type of names.leftOut) report.drop(`tools.${type}`);
  for (const field of names.lost) report.drop(field);
  const { instructions, turns } = readItems(body.input, names, report);
  const own = filledOf(body.instructions);
  const text = objectOf(body.text);
  const request: ConversationRequest = {
    instructions: own === null ? instructions : [{ kind: "text", text: own }, ...instructions],
    turns,
    tools: names.tools,
    toolChoice: readToolChoice(body.tool_choice, names, report),
    parallelToolCalls: booleanOf(body.parallel_tool_calls),
    maxOutputTokens: wholeOf(body.max_output_tokens),
    temperature: numberOf(body.temperature),
    topP: numberOf(body.top_p),
    topK: null,
    stop: [],
    seed: null,
    presencePenalty: null,
    frequencyPenalty: null,
    candidates: null,
    logprobs: logprobsOf(body),
    output: readOutputFormat(text?.format, "text.format", itself, report),
    reasoning: reasoningOf(body.reasoning, report),
    endUser: filledOf(body.safety_identifier) ?? filledOf(body.user),
    stream: body.stream === true,
  };
  if (text !== null) report.dropOthers(text, TEXT_MEMBERS, "text.");
  for (const entry of looseListOf(body.include))
    if (entry !== "reasoning.encrypted_content" && entry !== "message.output_text.logprobs") report.drop("include");
  for (const [name, value] of Object.entries(body)) {
    if (READ.has(name) || value === null || value === undefined) continue;
    if (REFUSED.has(name) && !(Array.isArray(value) && value.length === 0)) report.refuse(name, NOT_ELSEWHERE);
    else if (!isDefault(name, value)) report.drop(name);
  }
  return report.unsupported.length > 0 ? { unsupported: report.unsupported } : { request, dropped: report.dropped };
}

/** Whether a member only asks for the default. */
function isDefault(name: string, value: unknown): boolean {
  return (
    asksNothing(value) ||
    ((name === "store" || name === "background") && value === false) ||
    (name === "truncation" && value === "disabled")
  );
}

function logprobsOf(body: JsonObject): number | null {
  const wanted = wholeOf(body.top_logprobs) ?? 0;
  return wanted > 0 || looseListOf(body.include).includes("message.output_text.logprobs") ? wanted : null;
}

function reasoningOf(value: unknown, report: ReadReport): Reasoning | null {
  const reasoning = objectOf(value);
  if (reasoning === null) return null;
  const effort = readEffort(reasoning.effort, "reasoning.effort", report);
  const summary = filledOf(reasoning.summary) ?? filledOf(reasoning.generate_summary);
  for (const name of Object.keys(reasoning))
    if (!["effort", "summary", "generate_summary"].includes(name) && reasoning[name] !== null) report.drop(`reasoning.${name}`);
  return effort === null && summary === null ? null : { effort, budgetTokens: null, visible: summary === null ? null : true };
}
