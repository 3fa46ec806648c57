import { ownEntry } from "../../kernel/collections/own-entry.ts";
import type { RequestRead } from "../conversation/codec.ts";
import { type ConversationRequest, EFFORTS, type Effort, type OutputFormat, type Reasoning, type Turn } from "../conversation/request.ts";
import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import { readAssistantParts } from "./read-assistant-blocks.ts";
import { readTextParts, readUserParts } from "./read-blocks.ts";
import { dropOthers, isNothing, type MessagesReadReport } from "./losses.ts";
import { readMessagesToolChoice, readMessagesTools } from "./read-tools.ts";

/** Members that are translated; `model` and `model_id` have already been used to choose the model. */
const PLACED: ReadonlySet<string> = new Set([
  "model",
  "model_id",
  "max_tokens",
  "messages",
  "system",
  "tools",
  "tool_choice",
  "stop_sequences",
  "stream",
  "thinking",
  "output_config",
  "output_format",
  "metadata",
  "temperature",
  "top_p",
  "top_k",
]);

const MESSAGE_MEMBERS: ReadonlySet<string> = new Set(["role", "content"]);
const METADATA: ReadonlySet<string> = new Set(["user_id"]);

/** Members whose loss would change the result, or where the call is processed. */
const NEEDED: Readonly<Record<string, string>> = {
  container: "containers exist only at the vendor",
  mcp_servers: "MCP servers are called by the vendor itself",
  thread: "threads are kept by the vendor alone: send the whole conversation without it",
  inference_geo: "the place of inference cannot be chosen for this model",
};

const numberOf = (value: unknown): number | null => (typeof value === "number" && Number.isFinite(value) ? value : null);

/** Reads a Messages body that has passed validation. */
export function readMessagesConversation(body: JsonObject): RequestRead {
  const losses: MessagesReadReport = { dropped: new Set(), unsupported: [] };
  for (const [name, value] of Object.entries(body)) {
    if (PLACED.has(name) || isNothing(value)) continue;
    const reason = ownEntry(NEEDED, name);
    if (reason === undefined) losses.dropped.add(name);
    else losses.unsupported.push({ field: name, message: reason });
  }
  if (isObject(body.metadata)) dropOthers(body.metadata, METADATA, "metadata.", losses);
  if (body.max_tokens === 0)
    losses.unsupported.push({ field: "max_tokens", message: "0, which only warms the cache, means nothing to this model" });

  const [toolChoice, parallelToolCalls] = readMessagesToolChoice(body.tool_choice);
  const request: ConversationRequest = {
    instructions: readTextParts(body.system, "system", losses),
    turns: readTurns(body.messages, losses),
    tools: readMessagesTools(body.tools, losses),
    toolChoice,
    parallelToolCalls,
    maxOutputTokens: numberOf(body.max_tokens),
    temperature: numberOf(body.temperature),
    topP: numberOf(body.top_p),
    topK: numberOf(body.top_k),
    stop: Array.isArray(body.stop_sequences) ? body.stop_sequences.filter((stop) => typeof stop === "string") : [],
    seed: null,
    presencePenalty: null,
    frequencyPenalty: null,
    candidates: null,
    logprobs: null,
    output: readOutput(body, losses),
    reasoning: readReasoning(body.thinking, body.output_config),
    endUser: isObject(body.metadata) && typeof body.metadata.user_id === "string" ? body.metadata.user_id : null,
    stream: body.stream === true,
  };
  return losses.unsupported.length > 0 ? { unsupported: losses.unsupported } : { request, dropped: [...losses.dropped] };
}

function readTurns(messages: JsonValue | undefined, losses: MessagesReadReport): Turn[] {
  const turns: Turn[] = [];
  if (!Array.isArray(messages)) return turns;
  for (const [i, message] of messages.entries()) {
    if (!isObject(message)) continue;
    const path = `messages[${i}].content`;
    dropOthers(message, MESSAGE_MEMBERS, "messages[].", losses);
    if (message.role === "user") turns.push({ role: "user", parts: readUserParts(message.content, path, losses) });
    else if (message.role === "assistant") turns.push({ role: "assistant", parts: readAssistantParts(message.content, path, losses) });
    else if (message.role === "system") turns.push({ role: "system", parts: readTextParts(message.content, path, losses) });
    else losses.unsupported.push({ field: `messages[${i}].role`, message: "must be user, assistant or system" });
  }
  return turns;
}

/** The output format is in `output_config`, or from older clients in `output_format`. */
function readOutput({ output_config: outputConfig, output_format: older }: JsonObject, losses: MessagesReadReport): OutputFormat | null {
  const config = isObject(outputConfig) ? outputConfig : {};
  for (const [name, value] of Object.entries(config))
    if (name !== "format" && name !== "effort" && !isNothing(value)) losses.dropped.add(`output_config.${name}`);
  const [name, format] = isNothing(config.format) ? ["output_format", older] : ["output_config.format", config.format];
  if (isNothing(format)) return null;
  if (isObject(format) && format.type === "json_schema" && isObject(format.schema)) {
    // The vendor's schemas have no name, which other vendors require.
    return { kind: "schema", name: "output", description: null, schema: format.schema, strict: null };
  }
  losses.unsupported.push({ field: name, message: "must be of type json_schema with a schema" });
  return null;
}

function readReasoning(thinking: JsonValue | undefined, config: JsonValue | undefined): Reasoning | null {
  const requestedEffort = isObject(config) ? config.effort : undefined;
  const effort = EFFORTS.find((known) => known === requestedEffort) ?? null;
  if (!isObject(thinking)) return effort === null ? null : { effort, budgetTokens: null, visible: null };
  // Thinking is shown by default.
  const visible = thinking.display !== "omitted";
  if (thinking.type === "disabled") return { effort: "none" satisfies Effort, budgetTokens: 0, visible: null };
  if (thinking.type === "enabled") return { effort, budgetTokens: numberOf(thinking.budget_tokens), visible };
  // Adaptive, and any future name for it: the model decides, guided by the effort.
  return { effort, budgetTokens: effort === null ? -1 : null, visible };
}
