import type { ModelEntry } from "../../directory/snapshot.ts";
import { type FieldError, type Refusal, refuse, isRefusal } from "../../kernel/errors.ts";
import type { ConversationFormat, ProviderCodec } from "../../wire/conversation/codec.ts";
import { type Conversation, replyContext } from "../../road/conversation.ts";
import type { ConversationRequest, Feature } from "../../wire/conversation/request.ts";
import { SignedCallsOfStream, signedCalls, unsignedCallIds, withSignatures } from "../../wire/conversation/signatures.ts";
import { TranslatedStream } from "../../wire/conversation/translated-stream.ts";
import { isObject, type JsonObject } from "../../wire/document.ts";
import { withExactTools } from "../../wire/exact-tools.ts";
import type { OutboundChanges } from "../../wire/inbound.ts";
import { MOST_PROBLEMS } from "../../wire/openai/body-checks.ts";
import type { Call } from "../../road/call.ts";
import type { Errand, Prepared } from "./errand.ts";
import type { KeptSignatures } from "./kept-signatures.ts";
import type { Media } from "./media.ts";
import { ceilingName, providerFormat } from "./provider-format.ts";

export interface ConversationParts {
  readonly codecs: Readonly<Record<Exclude<ConversationFormat, "completions">, ProviderCodec>>;
  readonly signatures: KeptSignatures;
  readonly media: Media;
}

const encoder = new TextEncoder();

/** A conversation with a model of any provider: passed as it is where the formats are the same, else translated. */
export function conversationErrand(conversation: Conversation, parts: ConversationParts): Errand {
  const { inbound, caller } = conversation;
  return {
    inputCharacters: inbound.inputCharacters,
    prepare(call, model) {
      const format = providerFormat(model, caller.format);
      const changes: OutboundChanges = {
        model: model.modelName,
        defaultTemperature: model.supportsSampling ? model.defaultTemperature : null,
        defaultMaxTokens: model.defaultMaxTokens,
        sampling: model.supportsSampling,
        maxTokensName: model.maxTokensParameter,
        systemPrompt: model.systemPrompt,
      };
      if (format === caller.format) return passing(conversation, changes, model);
      if (conversation.statefulFields.length > 0)
        return unsupported(
          conversation.statefulFields.map((field) => ({
            field,
            message: "needs a provider that keeps state, which the model's provider does not",
          })),
        );
      return translating(call, conversation, changes, model, format, parts);
    },
  };
}

function passing(
  { inbound, caller, passing: own, headers, statefulFields }: Conversation,
  changes: OutboundChanges,
  model: ModelEntry,
): Prepared | Refusal {
  // Many compatible servers take these fields and forget them: only the vendors that keep state are trusted with them.
  if (statefulFields.length > 0 && !keepsState(model))
    return unsupported(
      statefulFields.map((field) => ({ field, message: "needs a provider that keeps state, which the model's provider does not" })),
    );
  return {
    operation: own.operation ?? caller.format,
    body: inbound.outbound(changes),
    stream: inbound.stream,
    headers,
    streamCodec: () => own.stream(),
    streamType: null,
    whole(bytes) {
      const read = own.reply(bytes);
      return read === null ? null : { body: bytes, ...read };
    },
    refusal: () => null,
    dropped: [],
  };
}

function keepsState({ provider }: ModelEntry): boolean {
  return provider.apiFormat === "openai" || provider.apiFormat === "azure_openai";
}

async function translating(
  call: Call,
  conversation: Conversation,
  changes: OutboundChanges,
  model: ModelEntry,
  format: ConversationFormat,
  parts: ConversationParts,
): Promise<Prepared | Refusal> {
  const { inbound, caller } = conversation;
  if (format === "completions") throw new Error("no caller's format is translated into completions");
  const provider = parts.codecs[format];
  const read = caller.readRequest(inbound.exactBody);
  if ("unsupported" in read) return unsupported(read.unsupported);
  const defaulted = withDefaults(read.request, inbound.stream, changes);
  const asked = model.supportsSampling ? defaulted : { ...defaulted, temperature: null, topP: null, topK: null };
  const signed = SIGNS.has(format) ? await signedAgain(call, asked, parts.signatures) : asked;
  const request = NEEDS_BYTES.has(format) ? await parts.media.inlined(signed, call.abort.signal) : signed;
  if (isRefusal(request)) return request;
  const written = provider.writeRequest(request, {
    name: model.modelName,
    maxOutputTokens: model.maxOutputTokens,
    systemTurns: model.supportsSystemTurns,
    maxTokensName: ceilingName(model),
  });
  if ("unsupported" in written)
    return unsupported(written.unsupported.map(({ feature, message }) => ({ field: caller.spelling[feature], message })));
  const context = replyContext(call, conversation, model);
  return {
    operation: format,
    body: JSON.stringify(written.body),
    stream: inbound.stream,
    headers: {},
    streamCodec() {
      const signatures = new SignedCallsOfStream();
      const writer = conversation.writer === null ? caller.streamWriter(context) : conversation.writer(context);
      return new TranslatedStream(
        provider.streamReader(),
        writer,
        (event) => {
          signatures.note(event);
          if (event.kind === "stop") parts.signatures.keep(call, signatures.signed(event.candidate));
        },
        { enclosed: conversation.writer !== null },
      );
    },
    streamType: conversation.streamType,
    whole(bytes) {
      const body = objectOf(bytes);
      const reply = body === null ? null : provider.readReply(body);
      if (reply === null) return null;
      let outputCharacters = 0;
      for (const candidate of reply.candidates) {
        parts.signatures.keep(call, signedCalls(candidate));
        for (const part of candidate.parts)
          outputCharacters += part.kind === "tool_call" ? part.arguments.length : part.kind === "picture" ? 0 : part.text.length;
      }
      return { body: encoder.encode(JSON.stringify(caller.writeReply(reply, context))), usage: reply.usage, outputCharacters };
    },
    refusal: (status, bytes, headers) =>
      encoder.encode(JSON.stringify(caller.writeFault(provider.readFault(status, objectOf(bytes), headers)))),
    dropped: [...read.dropped, ...[...unsampled(defaulted, asked), ...written.dropped].map((feature) => caller.spelling[feature])],
  };
}

/** Formats whose providers sign what they want to see again. */
const SIGNS: ReadonlySet<ConversationFormat> = new Set(["messages", "gemini", "converse", "responses"]);

async function signedAgain(call: Call, request: ConversationRequest, signatures: KeptSignatures): Promise<ConversationRequest> {
  const callIds = unsignedCallIds(request);
  if (callIds.length === 0) return request;
  const kept = await signatures.find(call, callIds);
  return withSignatures(request, (callId) => kept.get(callId) ?? null);
}

/** Formats that cannot name a picture by its address. */
const NEEDS_BYTES: ReadonlySet<ConversationFormat> = new Set(["gemini", "converse"]);

function withDefaults(
  request: ConversationRequest,
  stream: boolean,
  { defaultTemperature, defaultMaxTokens, systemPrompt }: OutboundChanges,
): ConversationRequest {
  return {
    ...request,
    // Where a format says it in the address, the body does not.
    stream,
    temperature: request.temperature ?? defaultTemperature,
    maxOutputTokens: request.maxOutputTokens ?? defaultMaxTokens,
    instructions: systemPrompt === null ? request.instructions : [{ kind: "text", text: systemPrompt }, ...request.instructions],
  };
}

/** What a caller asked for that a model of default sampling is not told; the default itself is no loss. */
function unsampled(before: ConversationRequest, after: ConversationRequest): Feature[] {
  const lost: Feature[] = [];
  if (before.temperature !== after.temperature && before.temperature !== 1) lost.push("temperature");
  if (before.topP !== after.topP && before.topP !== 1) lost.push("top_p");
  if (before.topK !== after.topK) lost.push("top_k");
  return lost;
}

function unsupported(fields: readonly FieldError[]): Refusal {
  return refuse("unsupported_parameter", undefined, { fields: fields.slice(0, MOST_PROBLEMS) });
}

function objectOf(bytes: Uint8Array): JsonObject | null {
  try {
    const text = new TextDecoder().decode(bytes);
    const parsed: unknown = withExactTools<unknown>(JSON.parse(text), text);
    // Google wraps an error of a streaming call in a list.
    const value: unknown = Array.isArray(parsed) && parsed.length === 1 ? parsed[0] : parsed;
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
