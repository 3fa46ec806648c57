import { ownEntry } from "../../../kernel/collections/own-entry.ts";
import type { RequestRead } from "../../conversation/codec.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";
import { asksNothing } from "../../json/document.ts";
import { readEffort, readOutputFormat } from "../answer-settings.ts";
import { readChatMessages } from "./messages-reader.ts";
import { readFunctionToolChoice, readFunctionTools } from "../function-tools.ts";
import { booleanOf, filledOf, looseListOf, numberOf, objectOf, stringOf, wholeOf } from "../loose-fields.ts";
import { NOT_ELSEWHERE, ReadReport } from "../read-report.ts";

/** Members that are translated, or that have no effect on the answer. */
const READ: ReadonlySet<string> = new Set([
  "model",
  "model_id",
  "messages",
  "stream",
  "stream_options",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "max_tokens",
  "max_completion_tokens",
  "temperature",
  "top_p",
  "top_k",
  "stop",
  "seed",
  "presence_penalty",
  "frequency_penalty",
  "n",
  "logprobs",
  "top_logprobs",
  "response_format",
  "reasoning_effort",
  "user",
  "safety_identifier",
  "modalities",
  "audio",
]);

/** Members whose loss would change the result, with the reason for the caller. */
const REFUSED: Readonly<Record<string, string>> = {
  functions: "is the older form of `tools`: send `tools`",
  function_call: "is the older form of `tool_choice`: send `tool_choice`",
  web_search_options: NOT_ELSEWHERE,
  logit_bias: NOT_ELSEWHERE,
  moderation: NOT_ELSEWHERE,
};

const functionOf = (tool: JsonObject) => objectOf(tool.function);

/** Reads a chat completion request as a conversation. `body` has passed `readChatRequest`. */
export function readChatConversation(body: JsonObject): RequestRead {
  const report = new ReadReport();
  const { instructions, turns } = readChatMessages(body.messages, report);
  const effort = readEffort(body.reasoning_effort, "reasoning_effort", report);
  const request = {
    instructions,
    turns,
    tools: readFunctionTools(body.tools, functionOf, report),
    toolChoice: readFunctionToolChoice(body.tool_choice, functionOf, report),
    parallelToolCalls: booleanOf(body.parallel_tool_calls),
    maxOutputTokens: wholeOf(body.max_completion_tokens) ?? wholeOf(body.max_tokens),
    temperature: numberOf(body.temperature),
    topP: numberOf(body.top_p),
    topK: wholeOf(body.top_k),
    stop: stopsOf(body.stop),
    seed: numberOf(body.seed),
    presencePenalty: numberOf(body.presence_penalty),
    frequencyPenalty: numberOf(body.frequency_penalty),
    candidates: wholeOf(body.n),
    logprobs: body.logprobs === true ? (wholeOf(body.top_logprobs) ?? 0) : null,
    output: readOutputFormat(body.response_format, "response_format", (format) => objectOf(format.json_schema), report),
    reasoning: effort === null ? null : { effort, budgetTokens: null, visible: null },
    endUser: filledOf(body.user) ?? filledOf(body.safety_identifier),
    stream: body.stream === true,
  };
  reportRest(body, report);
  return report.unsupported.length > 0 ? { unsupported: report.unsupported } : { request, dropped: report.dropped };
}

export function stopsOf(stop: unknown): string[] {
  if (typeof stop === "string") return stop === "" ? [] : [stop];
  return looseListOf(stop).filter((entry): entry is string => stringOf(entry) !== null);
}

function reportRest(body: JsonObject, report: ReadReport): void {
  const modalities = looseListOf(body.modalities);
  if (modalities.includes("audio")) report.refuse("modalities", `${NOT_ELSEWHERE}: answers in audio`);
  else if (objectOf(body.audio) !== null) report.drop("audio");
  // Models that draw do so without being asked; others cannot.
  if (modalities.some((kind) => kind !== "text" && kind !== "audio")) report.drop("modalities");
  for (const [name, value] of Object.entries(body)) {
    if (READ.has(name) || value === null || value === undefined) continue;
    const why = ownEntry(REFUSED, name);
    if (why !== undefined) {
      if (name === "web_search_options" || !asksNothing(value)) report.refuse(name, why);
    } else if (!asksNothing(value)) report.drop(name);
  }
}
