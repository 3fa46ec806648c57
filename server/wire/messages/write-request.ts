import { detailLosses } from "../conversation/media-losses.ts";
import type { RequestWritten, TargetModel } from "../conversation/codec.ts";
import type { ConversationRequest, OutputFormat, Tool, ToolChoice } from "../conversation/request.ts";
import type { TextPart } from "../conversation/conversation-parts.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { describedSchema } from "../conversation/described-schema.ts";
import { outputSchema } from "./output-schema.ts";
import { claudeSampling } from "./claude-sampling.ts";
import { forcesCall } from "./thinking-limits.ts";
import { cacheControl, contentOf, type MessagesWriteReport } from "./write-blocks.ts";
import { writeMessagesThinking } from "./write-thinking.ts";
import { textBlocks, writeTurns } from "./write-turns.ts";

const MAX_CACHE_MARKS = 4;
const TOOL_NAME = /^[A-Za-z0-9_-]{1,128}$/;
/** The vendor refuses user IDs that look like an email address. */
const MAIL_ADDRESS = /@/;
const JSON_ONLY: TextPart = { kind: "text", text: "Answer with a single valid JSON object and with nothing before or behind it." };

/** Writes a request as a Messages body for the target model. */
export function writeMessagesConversation(request: ConversationRequest, target: TargetModel): RequestWritten {
  const shortfall: MessagesWriteReport = { dropped: new Set(), unsupported: [] };
  reportUnsaid(request, shortfall);

  const turns = writeTurns(request.turns, target.systemTurns ?? true, shortfall);
  if (turns.messages.length === 0 && shortfall.unsupported.length === 0)
    shortfall.unsupported.push({ feature: "messages", message: "at least one message must hold a text or a file" });
  const instructions = [...request.instructions, ...turns.instructions];
  if (request.output?.kind === "json") instructions.push(JSON_ONLY);
  const system = textBlocks(instructions);

  const tools = writeTools(request, shortfall);
  const { ceiling, thinking, effort, fixedSampling } = writeMessagesThinking(request, target, shortfall.dropped);
  const sampling = claudeSampling(request, target.name, fixedSampling);
  for (const feature of sampling.dropped) shortfall.dropped.add(feature);
  const outputConfig = writeOutputConfig(effort, request.output);
  const endUser = request.endUser !== null && MAIL_ADDRESS.test(request.endUser) ? null : request.endUser;
  if (endUser !== request.endUser) shortfall.dropped.add("end_user");

  const body: JsonObject = {
    model: target.name,
    max_tokens: ceiling,
    ...(system.length === 0 ? {} : { system: contentOf(system) }),
    messages: turns.messages,
    ...tools,
    ...(request.stop.length === 0 ? {} : { stop_sequences: [...request.stop] }),
    ...(request.temperature === null || sampling.unsent.has("temperature") ? {} : { temperature: request.temperature }),
    ...(request.topP === null || sampling.unsent.has("top_p") ? {} : { top_p: request.topP }),
    ...(request.topK === null || sampling.unsent.has("top_k") ? {} : { top_k: request.topK }),
    ...(thinking === null ? {} : { thinking }),
    ...(outputConfig === null ? {} : { output_config: outputConfig }),
    ...(endUser === null ? {} : { metadata: { user_id: endUser } }),
    ...(request.stream ? { stream: true } : {}),
  };
  if (shortfall.unsupported.length > 0) return { unsupported: shortfall.unsupported };
  if (trimCacheMarks(body)) shortfall.dropped.add("cache");
  return { body, dropped: [...shortfall.dropped] };
}

function reportUnsaid(request: ConversationRequest, { dropped, unsupported }: MessagesWriteReport): void {
  if (request.candidates !== null && request.candidates > 1)
    unsupported.push({ feature: "candidates", message: "this model's provider gives one answer at a time" });
  if (request.logprobs !== null) unsupported.push({ feature: "logprobs", message: "this model's provider gives no log probabilities" });
  // Clamping the temperature would silently change the caller's request.
  if (request.temperature !== null && (request.temperature < 0 || request.temperature > 1)) {
    unsupported.push({ feature: "temperature", message: "this model's provider takes a temperature from 0 to 1" });
  }
  if (request.stop.some((stop) => stop.trim() === ""))
    unsupported.push({ feature: "stop", message: "this model's provider takes no stop sequence of blanks alone" });
  if (request.seed !== null) dropped.add("seed");
  for (const feature of detailLosses(request)) dropped.add(feature);
  if (request.presencePenalty !== null && request.presencePenalty !== 0) dropped.add("presence_penalty");
  if (request.frequencyPenalty !== null && request.frequencyPenalty !== 0) dropped.add("frequency_penalty");
  // The vendor has no JSON mode, and its schemas cannot allow arbitrary objects, so an instruction is added instead.
  if (request.output?.kind === "json") dropped.add("output");
}

function writeTools(request: ConversationRequest, shortfall: MessagesWriteReport): JsonObject {
  const { toolChoice: choice } = request;
  const offered = choice?.kind === "subset" ? request.tools.filter(({ name }) => choice.names.includes(name)) : request.tools;
  if (offered.length === 0) {
    if (forcesCall(choice)) shortfall.unsupported.push({ feature: "tool_choice", message: "names a tool that is not offered" });
    return {};
  }
  for (const { name } of offered) {
    if (!TOOL_NAME.test(name))
      shortfall.unsupported.push({
        feature: "tools",
        message: `the tool name ${JSON.stringify(name)} must be letters, digits, _ and -, 128 at most`,
      });
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

function writeOutputConfig(effort: string | null, output: OutputFormat | null): JsonObject | null {
  const format: JsonObject | null =
    output?.kind === "schema" ? { type: "json_schema", schema: outputSchema(describedSchema(output)) } : null;
  if (effort === null && format === null) return null;
  return { ...(effort === null ? {} : { effort }), ...(format === null ? {} : { format }) };
}

/** Keeps the last four cache marks, which cover the longest prefixes. Returns whether any was removed. */
function trimCacheMarks(body: JsonObject): boolean {
  const marked: JsonObject[] = [];
  const visit = (value: unknown): void => {
    if (!Array.isArray(value)) return;
    for (const block of value as JsonObject[]) {
      visit(block.content);
      if (block.cache_control !== undefined) marked.push(block);
    }
  };
  visit(body.tools);
  visit(body.system);
  visit(body.messages);
  const surplus = marked.slice(0, -MAX_CACHE_MARKS);
  for (const block of surplus) delete block.cache_control;
  return surplus.length > 0;
}
