import type { RequestWritten, TargetModel } from "../conversation/codec.ts";
import type { ConversationRequest, Reasoning, TextPart, Tool, ToolChoice } from "../conversation/request.ts";
import type { JsonObject } from "../document.ts";
import { outputSchema } from "./output-schema.ts";
import { cacheControl, contentOf, type Shortfall, textBlocks, writeTurns } from "./write-turns.ts";

/** The vendor requires a ceiling; every model it serves can write this much. */
const FALLBACK_CEILING = 4096;
const LEAST_BUDGET = 1024;
const MOST_CACHE_MARKS = 4;
const TOOL_NAME = /^[A-Za-z0-9_-]{1,128}$/;
/** The vendor refuses user ids that look like an address of a person. */
const MAIL_ADDRESS = /@/;
const JSON_ONLY: TextPart = { kind: "text", text: "Answer with a single valid JSON object and with nothing before or behind it." };

/** Writes a request as a Messages body for the model. */
export function writeRequest(request: ConversationRequest, target: TargetModel): RequestWritten {
  const shortfall: Shortfall = { dropped: new Set(), unsupported: [] };
  reportUnsaid(request, shortfall);

  const turns = writeTurns(request.turns, target.systemTurns ?? true, shortfall);
  if (turns.messages.length === 0 && shortfall.unsupported.length === 0) shortfall.unsupported.push({ feature: "messages", message: "at least one message must hold a text or a file" });
  const instructions = [...request.instructions, ...turns.instructions];
  if (request.output?.kind === "json") instructions.push(JSON_ONLY);
  const system = textBlocks(instructions);

  const tools = writeTools(request, shortfall);
  const { ceiling, thinking } = ceilingAndThinking(request, target, shortfall);
  const outputConfig = writeOutputConfig(request);
  const endUser = request.endUser !== null && MAIL_ADDRESS.test(request.endUser) ? null : request.endUser;
  if (endUser !== request.endUser) shortfall.dropped.add("end_user");

  const body: JsonObject = {
    model: target.name,
    max_tokens: ceiling,
    ...(system.length === 0 ? {} : { system: contentOf(system) }),
    messages: turns.messages,
    ...tools,
    ...(request.stop.length === 0 ? {} : { stop_sequences: [...request.stop] }),
    ...(request.temperature === null ? {} : { temperature: request.temperature }),
    ...(request.topP === null ? {} : { top_p: request.topP }),
    ...(request.topK === null ? {} : { top_k: request.topK }),
    ...(thinking === null ? {} : { thinking }),
    ...(outputConfig === null ? {} : { output_config: outputConfig }),
    ...(endUser === null ? {} : { metadata: { user_id: endUser } }),
    ...(request.stream ? { stream: true } : {}),
  };
  if (shortfall.unsupported.length > 0) return { unsupported: shortfall.unsupported };
  if (trimCacheMarks(body)) shortfall.dropped.add("cache");
  return { body, dropped: [...shortfall.dropped] };
}

function reportUnsaid(request: ConversationRequest, { dropped, unsupported }: Shortfall): void {
  if (request.candidates !== null && request.candidates > 1) unsupported.push({ feature: "candidates", message: "this model's provider gives one answer at a time" });
  if (request.logprobs !== null) unsupported.push({ feature: "logprobs", message: "this model's provider gives no log probabilities" });
  // A temperature moved to the nearest one allowed would be another than the caller asked for.
  if (request.temperature !== null && (request.temperature < 0 || request.temperature > 1)) {
    unsupported.push({ feature: "temperature", message: "this model's provider takes a temperature from 0 to 1" });
  }
  if (request.stop.some((stop) => stop.trim() === "")) unsupported.push({ feature: "stop", message: "this model's provider takes no stop sequence of blanks alone" });
  if (request.seed !== null) dropped.add("seed");
  if (request.presencePenalty !== null && request.presencePenalty !== 0) dropped.add("presence_penalty");
  if (request.frequencyPenalty !== null && request.frequencyPenalty !== 0) dropped.add("frequency_penalty");
  // The vendor has no JSON mode, and its schemas refuse an object of any shape: it can only be told so in words.
  if (request.output?.kind === "json") dropped.add("output");
}

function writeTools(request: ConversationRequest, shortfall: Shortfall): JsonObject {
  const { toolChoice: choice } = request;
  const offered = choice?.kind === "subset" ? request.tools.filter(({ name }) => choice.names.includes(name)) : request.tools;
  if (offered.length === 0) {
    const forced = choice !== null && (choice.kind === "required" || choice.kind === "tool" || (choice.kind === "subset" && choice.required));
    if (forced) shortfall.unsupported.push({ feature: "tool_choice", message: "names a tool that is not offered" });
    return {};
  }
  for (const { name } of offered) {
    if (!TOOL_NAME.test(name)) shortfall.unsupported.push({ feature: "tools", message: `the tool name ${JSON.stringify(name)} must be letters, digits, _ and -, 128 at most` });
  }
  const written = writeToolChoice(choice, request.parallelToolCalls);
  return { tools: offered.map(writeTool), ...(written === null ? {} : { tool_choice: written }) };
}

function writeTool(tool: Tool): JsonObject {
  const schema = (tool.schema ?? { properties: {} }) as JsonObject;
  return {
    name: tool.name,
    ...(tool.description === null ? {} : { description: tool.description }),
    input_schema: schema.type === undefined ? { type: "object", ...schema } : schema,
    ...(tool.strict === null ? {} : { strict: tool.strict }),
    ...cacheControl(tool.cache),
  };
}

function writeToolChoice(choice: ToolChoice | null, parallel: boolean | null): JsonObject | null {
  const single = parallel === false ? { disable_parallel_tool_use: true } : {};
  switch (choice?.kind) {
    case undefined:
      return parallel === false ? { type: "auto", ...single } : null;
    case "none":
      return { type: "none" };
    case "auto":
      return { type: "auto", ...single };
    case "required":
      return { type: "any", ...single };
    case "tool":
      return { type: "tool", name: choice.name, ...single };
    case "subset":
      return { type: choice.required ? "any" : "auto", ...single };
  }
}

/** The ceiling must leave room for an answer behind the thoughts, whose budget is part of it. */
function ceilingAndThinking(request: ConversationRequest, target: TargetModel, { dropped }: Shortfall): { ceiling: number; thinking: JsonObject | null } {
  const { reasoning } = request;
  const ceiling = request.maxOutputTokens ?? target.maxOutputTokens ?? FALLBACK_CEILING;
  if (reasoning === null) return { ceiling, thinking: null };
  const budget = reasoning.budgetTokens;
  if (reasoning.effort === "none" || budget === 0) return { ceiling, thinking: { type: "disabled" } };
  const display = reasoning.visible === null ? {} : { display: reasoning.visible ? "summarized" : "omitted" };
  if (budget === null || budget < 0) return { ceiling, thinking: { type: "adaptive", ...display } };

  const wanted = Math.max(LEAST_BUDGET, budget);
  const enabled = (tokens: number) => ({ type: "enabled", budget_tokens: tokens, ...display });
  if (wanted < ceiling) return { ceiling, thinking: enabled(wanted) };
  if (request.maxOutputTokens === null && target.maxOutputTokens === null) return { ceiling: wanted + FALLBACK_CEILING, thinking: enabled(wanted) };
  if (ceiling > LEAST_BUDGET) return { ceiling, thinking: enabled(ceiling - 1) };
  dropped.add("reasoning");
  return { ceiling, thinking: null };
}

function writeOutputConfig({ reasoning, output }: ConversationRequest): JsonObject | null {
  const effort = effortOf(reasoning);
  const format: JsonObject | null = output?.kind === "schema" ? { type: "json_schema", schema: outputSchema(output.schema as JsonObject) } : null;
  if (effort === null && format === null) return null;
  return { ...(effort === null ? {} : { effort }), ...(format === null ? {} : { format }) };
}

function effortOf(reasoning: Reasoning | null): string | null {
  const effort = reasoning?.effort ?? null;
  if (effort === "none" || reasoning?.budgetTokens === 0) return null;
  return effort === "minimal" ? "low" : effort;
}

/** The vendor takes four marks; the last ones cover the most. Says whether any was taken away. */
function trimCacheMarks(body: JsonObject): boolean {
  const marked: JsonObject[] = [];
  const look = (value: unknown): void => {
    if (!Array.isArray(value)) return;
    for (const block of value as JsonObject[]) {
      look(block.content);
      if (block.cache_control !== undefined) marked.push(block);
    }
  };
  look(body.tools);
  look(body.system);
  look(body.messages);
  const surplus = marked.slice(0, -MOST_CACHE_MARKS);
  for (const block of surplus) delete block.cache_control;
  return surplus.length > 0;
}
