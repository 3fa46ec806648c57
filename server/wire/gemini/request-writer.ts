import { describedSchema } from "../conversation/described-schema.ts";
import { asksForCitations, detailLosses, fileNameLosses, NO_CITATIONS } from "../conversation/media-losses.ts";
import type { RequestWritten, TargetModel } from "../conversation/codec.ts";
import type { ConversationRequest, Feature, OutputFormat, Tool, ToolChoice } from "../conversation/request.ts";
import type { TextPart } from "../conversation/conversation-parts.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { ContentWriter, type Unsupported } from "./content-writer.ts";
import { writeGeminiThinking } from "./thinking.ts";

const MAX_STOPS = 5;
const INT32 = 2 ** 31;
const TOOL_NAME = /^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$/;

/** Writes a generateContent body. The model, and whether to stream, belong into the URL. */
export function writeGeminiConversation(request: ConversationRequest, target: TargetModel): RequestWritten {
  const contents = new ContentWriter();
  const body: JsonObject = { contents: contents.write(request.turns, target.name) };
  const unsupported = [...contents.unsupported, ...refusals(request)];
  if (unsupported.length === 0 && Array.isArray(body.contents) && body.contents.length === 0)
    unsupported.push({ feature: "messages", message: "hold no text that could be sent" });
  if (unsupported.length > 0) return { unsupported };

  const dropped = new Set<Feature>(losses(request));
  const system = [...request.instructions, ...request.turns.flatMap((turn) => (turn.role === "system" ? turn.parts : []))];
  const parts = system.filter(({ text }) => text !== "").map(({ text }) => ({ text }));
  if (parts.length > 0) body.systemInstruction = { parts };
  if (request.tools.length > 0) {
    body.tools = [{ functionDeclarations: request.tools.map(declaration) }];
    if (request.toolChoice !== null) body.toolConfig = { functionCallingConfig: calling(request.toolChoice) };
  }
  const config = settings(request);
  if (request.reasoning !== null) {
    const thinking = writeGeminiThinking(request.reasoning, target.name);
    if (thinking === null) dropped.add("reasoning");
    else config.thinkingConfig = thinking;
  }
  if (Object.keys(config).length > 0) body.generationConfig = config;
  return { body, dropped: [...dropped] };
}

function refusals(request: ConversationRequest): Unsupported[] {
  const found: Unsupported[] = [];
  if (request.stop.length > MAX_STOPS) found.push({ feature: "stop", message: `may hold at most ${MAX_STOPS} sequences for this model` });
  if (request.logprobs !== null) found.push({ feature: "logprobs", message: "cannot be brought back from the provider of this model" });
  if (asksForCitations(request)) found.push({ feature: "citations", message: NO_CITATIONS });
  const strange = request.tools.find(({ name }) => !TOOL_NAME.test(name));
  if (strange !== undefined)
    found.push({ feature: "tools", message: `the name ${JSON.stringify(strange.name)} is not one the provider of this model takes` });
  return found;
}

function losses(request: ConversationRequest): Feature[] {
  const lost: Feature[] = [];
  if (request.parallelToolCalls === false && request.tools.length > 0) lost.push("parallel_tool_calls");
  if (request.endUser !== null) lost.push("end_user");
  if (!seedFits(request.seed)) lost.push("seed");
  if (hasCacheHint(request)) lost.push("cache");
  // Instructions can only precede the conversation: later ones are moved there and lose their position.
  const spoken = request.turns.findIndex(({ role }) => role !== "system");
  if (request.turns.some(({ role }, i) => role === "system" && spoken >= 0 && i > spoken)) lost.push("system_turn");
  // Only OpenAI, Anthropic and Bedrock promise that a call's arguments fit their schema.
  if (request.tools.some(({ strict }) => strict === true)) lost.push("tool_strict");
  lost.push(...detailLosses(request), ...fileNameLosses(request));
  return lost;
}

const seedFits = (seed: number | null) => seed === null || (Number.isInteger(seed) && seed >= -INT32 && seed < INT32);

function hasCacheHint(request: ConversationRequest): boolean {
  const parts: readonly { cache?: TextPart["cache"] }[] = [
    ...request.instructions,
    ...request.tools,
    ...request.turns.flatMap(({ parts: turnParts }) =>
      turnParts.flatMap<object>((part) => (part.kind === "tool_result" ? [part, ...part.content] : [part])),
    ),
  ];
  return parts.some(({ cache }) => cache !== undefined);
}

function declaration(tool: Tool): JsonObject {
  return {
    name: tool.name,
    ...(tool.description !== null && { description: tool.description }),
    ...(tool.schema !== null && { parametersJsonSchema: tool.schema as JsonObject }),
  };
}

function calling(choice: ToolChoice): JsonObject {
  switch (choice.kind) {
    case "auto":
      return { mode: "AUTO" };
    case "none":
      return { mode: "NONE" };
    case "required":
      return { mode: "ANY" };
    case "tool":
      return { mode: "ANY", allowedFunctionNames: [choice.name] };
    case "subset":
      return { mode: choice.required ? "ANY" : "VALIDATED", allowedFunctionNames: [...choice.names] };
    default:
      return choice satisfies never;
  }
}

function settings(request: ConversationRequest): JsonObject {
  const config: JsonObject = {};
  const put = (name: string, value: number | null) => {
    if (value !== null) config[name] = value;
  };
  put("temperature", request.temperature);
  put("topP", request.topP);
  put("topK", request.topK);
  put("candidateCount", request.candidates);
  put("maxOutputTokens", request.maxOutputTokens);
  if (request.stop.length > 0) config.stopSequences = [...request.stop];
  if (seedFits(request.seed)) put("seed", request.seed);
  put("presencePenalty", request.presencePenalty);
  put("frequencyPenalty", request.frequencyPenalty);
  if (request.output !== null) Object.assign(config, outputFormat(request.output));
  return config;
}

function outputFormat(output: OutputFormat): JsonObject {
  if (output.kind === "text") return { responseMimeType: "text/plain" };
  const schema = output.kind === "schema" ? { responseJsonSchema: describedSchema(output) } : {};
  return { responseMimeType: "application/json", ...schema };
}
