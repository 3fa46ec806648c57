import type { FieldError } from "../../kernel/errors.ts";
import { duplicateMember, type Edits, editMembers, type Member, membersOf } from "../json-members.ts";

/** A chat completion request: the caller's text and what governance reads of it. Everything else is the provider's business. */
export interface ChatRequest {
  readonly text: string;
  /** As parsed; `messages` is part of it. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly members: readonly Member[];
  readonly model: string | null;
  readonly modelId: string | null;
  readonly stream: boolean;
  /** Whether the caller asked for the usage frame of a stream. */
  readonly includeUsage: boolean;
  readonly temperature: number | null;
  readonly maxTokens: number | null;
  readonly offersTools: boolean;
  readonly messages: readonly unknown[];
  readonly streamOptions: Readonly<Record<string, unknown>> | null;
}

type Fields = { readonly fields: FieldError[] };

const absent = (value: unknown): value is null | undefined => value === null || value === undefined;
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

/** Written out by hand: it runs on every call, and the provider checks what is not ours to check. */
export function readChatRequest(text: string): ChatRequest | Fields {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (error) {
    return { fields: [{ field: "", message: `is not JSON: ${(error as Error).message}` }] };
  }
  if (!isObject(body)) return { fields: [{ field: "", message: "must be a JSON object" }] };

  const members = membersOf(text);
  const fields: FieldError[] = [];
  const twice = duplicateMember(members);
  if (twice !== null) fields.push({ field: twice, message: "stands more than once" });

  const name = (field: "model" | "model_id") => {
    const value = body[field];
    if (absent(value)) return null;
    if (typeof value === "string" && value !== "" && value.length <= 512) return value;
    fields.push({ field, message: "must be a non-empty string" });
    return null;
  };
  const integer = (field: "max_tokens" | "max_completion_tokens") => {
    const value = body[field];
    if (absent(value)) return null;
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
    fields.push({ field, message: "must be a whole number" });
    return null;
  };

  const model = name("model");
  const modelId = name("model_id");
  if (model === null && modelId === null && !fields.some(({ field }) => field.startsWith("model"))) {
    fields.push({ field: "model", message: "is required: name a model with `model`, or with `model_id` its gateway id" });
  }

  const messages = body.messages;
  if (!Array.isArray(messages) || messages.length === 0) fields.push({ field: "messages", message: "must be a non-empty array" });
  else {
    for (let i = 0; i < messages.length && fields.length < 20; i++) {
      const message: unknown = messages[i];
      if (!isObject(message)) fields.push({ field: `messages.${i}`, message: "must be an object" });
      else if (typeof message.role !== "string") fields.push({ field: `messages.${i}.role`, message: "must be a string" });
    }
  }

  if (!absent(body.stream) && typeof body.stream !== "boolean") fields.push({ field: "stream", message: "must be true or false" });
  if (!absent(body.stream_options) && !isObject(body.stream_options)) fields.push({ field: "stream_options", message: "must be an object" });
  if (!absent(body.temperature) && typeof body.temperature !== "number") fields.push({ field: "temperature", message: "must be a number" });
  if (!absent(body.tools) && !Array.isArray(body.tools)) fields.push({ field: "tools", message: "must be an array" });
  const maxTokens = integer("max_completion_tokens") ?? integer("max_tokens");
  if (fields.length > 0) return { fields };

  const streamOptions = isObject(body.stream_options) ? body.stream_options : null;
  return {
    text,
    body,
    members,
    model,
    modelId,
    stream: body.stream === true,
    includeUsage: streamOptions?.include_usage === true,
    temperature: typeof body.temperature === "number" ? body.temperature : null,
    maxTokens,
    offersTools: Array.isArray(body.tools) && body.tools.length > 0,
    messages: messages as unknown[],
    streamOptions,
  };
}

/** What the gateway has to say differently to the provider than the caller said to the gateway. */
export interface OutboundChanges {
  /** The provider's name of the model. */
  readonly model: string;
  readonly defaultTemperature: number | null;
  readonly defaultMaxTokens: number | null;
  /** Put before the caller's messages. */
  readonly systemPrompt: string | null;
}

/** The body for an OpenAI-compatible provider: the caller's own text wherever nothing had to change. */
export function outboundText(request: ChatRequest, changes: OutboundChanges): string {
  const edits = new Map<string, string | null>();
  if (request.modelId !== null) edits.set("model_id", null);
  if (request.model !== changes.model) edits.set("model", JSON.stringify(changes.model));
  // Usage is what metering stands on, so a stream is always asked for it; the codec hides the frame from who did not ask.
  if (request.stream && !request.includeUsage) edits.set("stream_options", JSON.stringify({ ...request.streamOptions, include_usage: true }));
  if (request.temperature === null && changes.defaultTemperature !== null) edits.set("temperature", JSON.stringify(changes.defaultTemperature));
  if (request.maxTokens === null && changes.defaultMaxTokens !== null) edits.set("max_tokens", JSON.stringify(changes.defaultMaxTokens));
  if (changes.systemPrompt !== null) {
    const member = request.members.find(({ name }) => name === "messages");
    if (member !== undefined) {
      const array = request.text.slice(member.valueStart, member.valueEnd);
      edits.set("messages", `[${JSON.stringify({ role: "system", content: changes.systemPrompt })},${array.slice(array.indexOf("[") + 1)}`);
    }
  }
  return edits.size === 0 ? request.text : editMembers(request.text, request.members, edits satisfies Edits);
}
