import { detailLosses } from "../conversation/media-losses.ts";
import type { RequestWritten, TargetModel } from "../conversation/codec.ts";
import type { ConversationRequest, OutputFormat } from "../conversation/request.ts";
import type { TextPart } from "../conversation/conversation-parts.ts";
import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import { type ClaudeSampling, claudeSampling } from "../messages/claude-sampling.ts";
import { outputSchema } from "../messages/output-schema.ts";
import { writeConverseMessages } from "./converse-messages.ts";
import { type WrittenReasoning, writeConverseReasoning } from "./converse-reasoning.ts";
import { writeConverseTools } from "./converse-tools.ts";
import { modelFamily } from "./model-family.ts";
import { RequestReport } from "./request-report.ts";

/** Sent if the caller wants any JSON: there is no such mode, and a schema that accepts every object is refused. */
const JSON_ONLY: TextPart = { kind: "text", text: "Answer with a single valid JSON object and with nothing before or behind it." };
const MAX_CACHE_POINTS = 4;
const AS_ASKED: ClaudeSampling = { unsent: new Set(), dropped: [] };

/** The body for Converse and ConverseStream; the operation and the model are in the URL. */
export function writeConverseRequest(request: ConversationRequest, target: TargetModel): RequestWritten {
  const report = new RequestReport();
  refuseAndDrop(request, report);
  const adapted = request.output?.kind === "json" ? { ...request, instructions: [...request.instructions, JSON_ONLY] } : request;
  const { system, messages, called } = writeConverseMessages(adapted, target.name, report);
  if (messages.length === 0) report.refuse("messages", "at least one message must hold a text or a file");
  const { toolConfig, claudeToolChoice } = writeConverseTools(request, target.name, called, report);
  const reasoning = writeConverseReasoning(request, target, report);
  const inferenceConfig = inference(request, target.name, reasoning, report);
  const fields = {
    ...reasoning.fields,
    ...(claudeToolChoice === null ? {} : { tool_choice: claudeToolChoice }),
    ...topK(request, target.name, reasoning, report),
  };
  const textFormat = textFormatOf(request.output);
  const outputConfig = {
    ...(textFormat === null ? {} : { textFormat }),
    ...(reasoning.effort === null ? {} : { effort: reasoning.effort }),
  };
  const asksStopSequence = modelFamily(target.name) === "claude" && request.stop.length > 0;

  if (report.unsupported.length > 0) return { unsupported: report.unsupported };
  const body: JsonObject = {
    messages,
    ...(system.length === 0 ? {} : { system }),
    ...unlessEmpty("inferenceConfig", inferenceConfig),
    ...(toolConfig === null ? {} : { toolConfig }),
    ...unlessEmpty("additionalModelRequestFields", fields),
    // The stop sequence that was hit is only reported on request.
    ...(asksStopSequence ? { additionalModelResponseFieldPaths: ["/stop_sequence"] } : {}),
    ...unlessEmpty("outputConfig", outputConfig),
  };
  if (trimCachePoints(body)) report.drop("cache");
  return { body, dropped: report.dropped };
}

/** Reports features that Converse has no field for. */
function refuseAndDrop(request: ConversationRequest, report: RequestReport): void {
  if (request.candidates !== null && request.candidates > 1)
    report.refuse("candidates", "this model's provider gives one answer at a time");
  if (request.logprobs !== null) report.refuse("logprobs", "this model's provider gives no log probabilities");
  // Clamping the temperature would silently change the caller's request.
  if (request.temperature !== null && (request.temperature < 0 || request.temperature > 1))
    report.refuse("temperature", "this model's provider takes a temperature from 0 to 1");
  if (request.stop.some((sequence) => sequence.trim() === ""))
    report.refuse("stop", "this model's provider takes no stop sequence of blanks alone");
  if (request.output?.kind === "json") report.drop("output");
  if (request.seed !== null) report.drop("seed");
  for (const feature of detailLosses(request)) report.drop(feature);
  if (request.presencePenalty !== null && request.presencePenalty !== 0) report.drop("presence_penalty");
  if (request.frequencyPenalty !== null && request.frequencyPenalty !== 0) report.drop("frequency_penalty");
  if (request.endUser !== null) report.drop("end_user");
}

function inference(
  request: ConversationRequest,
  model: string,
  { maxTokens, fixedSampling }: WrittenReasoning,
  report: RequestReport,
): JsonObject {
  const { temperature, topP } = request;
  const { unsent, dropped } = modelFamily(model) === "claude" ? claudeSampling(request, model, fixedSampling) : AS_ASKED;
  // `top_k` is reported where it is written.
  for (const feature of dropped) if (feature !== "top_k") report.drop(feature);
  return {
    ...(maxTokens === null ? {} : { maxTokens }),
    ...(temperature === null || unsent.has("temperature") ? {} : { temperature }),
    ...(topP === null || unsent.has("top_p") ? {} : { topP }),
    ...(request.stop.length === 0 ? {} : { stopSequences: [...request.stop] }),
  };
}

/** Each model family has its own field for it. */
function topK(request: ConversationRequest, model: string, { fixedSampling }: WrittenReasoning, report: RequestReport): JsonObject {
  if (request.topK === null) return {};
  const family = modelFamily(model);
  if (family === "claude" && !fixedSampling) return { top_k: request.topK };
  if (family === "nova") return { inferenceConfig: { topK: request.topK } };
  report.drop("top_k");
  return {};
}

function textFormatOf(output: OutputFormat | null): JsonObject | null {
  if (output?.kind !== "schema") return null;
  const schema = JSON.stringify(outputSchema(output.schema as JsonObject));
  return {
    type: "json_schema",
    structure: { jsonSchema: { schema, name: output.name, ...(output.description === null ? {} : { description: output.description }) } },
  };
}

/** Keeps the last four cache points, which cover the longest prefixes. Returns whether any was removed. */
function trimCachePoints(body: JsonObject): boolean {
  const lists: JsonObject[][] = [];
  for (const list of [isObject(body.toolConfig) ? body.toolConfig.tools : null, body.system])
    if (Array.isArray(list)) lists.push(list as JsonObject[]);
  for (const message of body.messages as JsonObject[]) lists.push(message.content as JsonObject[]);
  const isPoint = (block: JsonObject) => block.cachePoint !== undefined;
  let surplus = lists.flat().filter(isPoint).length - MAX_CACHE_POINTS;
  const trimmed = surplus > 0;
  for (const list of lists) {
    for (let at = 0; surplus > 0 && at < list.length;) {
      if (!isPoint(list[at] as JsonObject)) at++;
      else {
        list.splice(at, 1);
        surplus--;
      }
    }
  }
  return trimmed;
}

function unlessEmpty(name: string, value: JsonObject): JsonObject {
  return Object.keys(value).length === 0 ? {} : { [name]: value };
}
