import { estimated } from "../../../road/metering/stream-usage.ts";
import type { ModelEntry } from "../../../directory/snapshot.ts";
import { type FieldError, type Refusal, isRefusal, refuse } from "../../../kernel/errors.ts";
import { haveMoreTokensThan } from "../../../wire/certain-tokens.ts";
import type { ProviderCodec } from "../../../wire/conversation/codec.ts";
import { type Conversation, noteReferable, replyContext, type NoteSeals } from "../../../road/request/conversation.ts";
import type { ConversationRequest } from "../../../wire/conversation/request.ts";
import { retryAfterIn } from "../../../wire/conversation/reply.ts";
import { SignedCallsOfStream, signedCalls, unsignedCallIds, withSignatures } from "../../../wire/conversation/signatures.ts";
import { TranslatedStream } from "../../../wire/conversation/translated-stream.ts";
import { type JsonObject, isObject } from "../../../kernel/json-value.ts";
import { withExactTools } from "../../../wire/json/exact-tools.ts";
import type { ConversationInbound, OutboundChanges } from "../../../wire/inbound.ts";
import { MAX_PROBLEMS } from "../../../wire/openai/body-checks.ts";
import type { Call } from "../../../road/call.ts";
import { isAnswered } from "../../../road/own-calls/batched.ts";
import { providerOf } from "../routing/attempt.ts";
import type { ShownParts } from "../media/shown-files.ts";
import { maxTokensNameOf } from "./ceiling-name.ts";
import type { ModelRequest, PreparedRequest } from "./model-request.ts";
import { foreignSealsOf, readableBy, sealedBy, sealersOf, type SignatureCache, signedBy } from "../caches/signature-cache.ts";
import type { Media } from "../media/media.ts";
import { droppedSampling, withDefaults } from "./sampling.ts";
import { requestedRegion, requestedServing } from "../../../wire/serving.ts";
import { joinedInstructions, NOTHING_SENT } from "../../../wire/sent-settings.ts";

export interface ConversationParts extends ShownParts {
  readonly signatures: SignatureCache;
  readonly media: Media;
}

const encoder = new TextEncoder();
const NOBODY: ReadonlySet<string> = new Set();
const SEALED_ELSEWHERE = "holds a compacted conversation that another provider's account sealed and only that one opens";

/** A conversation for a model of any provider. If providers sealed parts of it, only those may serve it. */
export function conversationModelRequest(
  call: Call,
  conversation: Conversation,
  parts: ConversationParts,
): ModelRequest | Promise<ModelRequest> {
  const { compactions = [] } = conversation.inbound;
  if (compactions.length === 0) return requestOf(conversation, NOBODY, parts);
  return sealersOf(call, compactions, parts.signatures).then((sealers) => requestOf(conversation, sealers, parts));
}

/** Passed through if the formats are the same, else translated. `compactedBy`: the providers that sealed parts of it. */
function requestOf(conversation: Conversation, compactedBy: ReadonlySet<string>, parts: ConversationParts): ModelRequest {
  const { inbound, caller, previous } = conversation;
  const opens = ({ provider }: ModelEntry) => [...compactedBy].every((providerKey) => providerKey === provider.providerKey);
  return {
    inputCharacters: inbound.inputCharacters,
    isLongerThan: (tokens) => isLongerThan(inbound, tokens),
    usageOfSending: () => estimated(inbound.inputCharacters, 0),
    askedRegion: requestedRegion(inbound.body),
    mayBeServedBy: (model) => opens(model) && (previous === undefined || model.provider.providerKey === previous.providerKey),
    prepare(call, model) {
      if (!opens(model)) return unsupported([{ field: "input", message: SEALED_ELSEWHERE }]);
      const provider = providerOf(parts.providers, model);
      if (isRefusal(provider)) return provider;
      const { traits } = provider;
      const answerCodec = traits.codecFor(model, caller.format);
      const changes = outboundChanges(model);
      if (answerCodec.format === caller.format) {
        const pass = (foreignSeals?: ReadonlySet<string>) =>
          passing(conversation, foreignSeals === undefined ? changes : { ...changes, foreignSeals }, model, {
            answerCodec,
            keepsState: traits.keepsState(model),
            sealed: (seals) => parts.signatures.keep(call, sealedBy(model, seals)),
          });
        const seals = inbound.seals ?? [];
        return seals.length === 0 ? pass() : foreignSealsOf(call, model, seals, parts.signatures).then(pass);
      }
      if (conversation.statefulFields.length > 0)
        return unsupported(
          conversation.statefulFields.map((field) => ({
            field,
            message: "needs a provider that keeps state, which the model's provider does not",
          })),
        );
      return translating(call, conversation, changes, { model, codec: answerCodec }, parts);
    },
  };
}

/** Not for a request that its provider may shorten. */
function isLongerThan(inbound: ConversationInbound, tokens: number): boolean {
  // A word has at least one character, and one space before the next.
  if (inbound.inputCharacters < 2 * tokens || inbound.body.truncation === "auto") return false;
  const sent = inbound.texts().filter(({ rulesOnly }) => rulesOnly !== true);
  return haveMoreTokensThan(
    tokens,
    sent.map(({ text }) => text),
  );
}

export function outboundChanges(model: ModelEntry): OutboundChanges {
  return {
    model: model.modelName,
    defaultTemperature: model.supportsSampling ? model.defaultTemperature : null,
    defaultMaxTokens: model.defaultMaxTokens,
    sampling: model.supportsSampling,
    maxTokensName: model.maxTokensParameter,
    systemPrompt: model.systemPrompt,
  };
}

function passing(
  { inbound, caller, passing: own, headers, query = "", silent, statefulFields, instructedBy, previous }: Conversation,
  changes: OutboundChanges,
  { provider: { providerKey } }: ModelEntry,
  { answerCodec, keepsState, sealed }: { readonly answerCodec: ProviderCodec; readonly keepsState: boolean; readonly sealed: NoteSeals },
): PreparedRequest | Refusal {
  // Many compatible servers accept these fields and ignore them, so they are sent only to vendors that keep state.
  if (statefulFields.length > 0 && !keepsState)
    return unsupported(
      statefulFields.map((field) => ({ field, message: "needs a provider that keeps state, which the model's provider does not" })),
    );
  if (previous !== undefined && previous.providerKey === null)
    return refuse("previous_response_not_found", `Previous response with id '${previous.id.slice(0, 256)}' not found.`, {
      extra: { param: previous.field },
    });
  if (previous !== undefined && previous.providerKey !== providerKey)
    return unsupported([{ field: previous.field, message: "names a response that the model's provider did not make" }]);
  if (instructedBy !== undefined && (changes.systemPrompt !== null || inbound.instructions !== null))
    return unsupported([{ field: instructedBy, message: "takes no instructions, and some are put before every request here" }]);
  return {
    operation: own.operation ?? caller.format,
    body: inbound.outbound(changes),
    sent: inbound.sentSettings(changes),
    serving: requestedServing(inbound.body),
    stream: inbound.stream,
    headers,
    query,
    answerCodec,
    streamCodec: () => own.stream(sealed),
    streamType: null,
    ...(silent && { silent }),
    whole(bytes) {
      const read = own.reply(bytes, sealed);
      return read === null ? null : { body: bytes, ...read };
    },
    refusal: () => null,
    dropped: [],
  };
}

interface TranslationTarget {
  readonly model: ModelEntry;
  readonly codec: ProviderCodec;
}

async function translating(
  call: Call,
  conversation: Conversation,
  changes: OutboundChanges,
  { model, codec }: TranslationTarget,
  parts: ConversationParts,
): Promise<PreparedRequest | Refusal> {
  const { inbound, caller } = conversation;
  const read = caller.readRequest(inbound.exactBody);
  if ("unsupported" in read) return unsupported(read.unsupported);
  const coming = answerReading(call, conversation, { model, codec }, parts);
  // The request was sent in a batch before; only its answer is to be read.
  if (isAnswered(call))
    return { ...coming, operation: codec.format, body: "", sent: NOTHING_SENT, stream: false, headers: {}, dropped: [] };
  const defaulted = withDefaults(read.request, inbound.stream, changes);
  const settings = model.supportsSampling ? defaulted : { ...defaulted, temperature: null, topP: null, topK: null };
  const signed = codec.signs ? await signedAgain(call, settings, model, parts.signatures) : settings;
  parts.room.release(call);
  const request = codec.needsMediaBytes
    ? await parts.media.inlined(signed, call.abort.signal, (bytes) => parts.room.hold(call, bytes))
    : signed;
  if (isRefusal(request)) return request;
  const written = codec.writeRequest(request, {
    name: model.modelName,
    maxOutputTokens: model.maxOutputTokens,
    systemTurns: model.supportsSystemTurns,
    maxTokensName: maxTokensNameOf(model, parts.providers),
  });
  if ("unsupported" in written)
    return unsupported(written.unsupported.map(({ feature, message }) => ({ field: caller.spelling[feature], message })));
  // For legacy completions, `writeRequest` has put these instructions into the prompt, so `sent` does not have them.
  const sent = codec.sentSettings(written.body);
  return {
    operation: codec.format,
    body: JSON.stringify(written.body),
    sent: caller.format === "completions" ? { ...sent, instructions: joinedInstructions([sent.instructions, inbound.instructions]) } : sent,
    serving: requestedServing(written.body),
    stream: inbound.stream,
    headers: {},
    answerCodec: codec,
    ...coming,
    dropped: [...read.dropped, ...[...droppedSampling(defaulted, settings), ...written.dropped].map((feature) => caller.spelling[feature])],
  };
}

/** Reads an answer in the provider's format and writes it in the caller's. */
function answerReading(
  call: Call,
  conversation: Conversation,
  { model, codec }: TranslationTarget,
  parts: ConversationParts,
): Pick<PreparedRequest, "streamCodec" | "streamType" | "silent" | "whole" | "refusal"> {
  const { inbound, caller, silent } = conversation;
  const context = replyContext(call, conversation, model);
  return {
    streamCodec() {
      const signatures = new SignedCallsOfStream();
      const writer = conversation.writer === null ? caller.streamWriter(context) : conversation.writer(context);
      return new TranslatedStream(
        codec.streamReader(),
        writer,
        (event) => {
          signatures.note(event);
          if (event.kind !== "stop") return;
          if (event.stopDetail !== null) call.answerReusable = false;
          parts.signatures.keep(call, signedBy(model, signatures.signed(event.candidate)));
        },
        { enclosed: conversation.writer !== null, closing: () => noteReferable(conversation, writer.referable?.()) },
      );
    },
    streamType: conversation.streamType,
    ...(silent && { silent }),
    whole(bytes) {
      const body = objectOf(bytes);
      const reply = body === null ? null : codec.readReply(body);
      if (reply === null) return null;
      let outputCharacters = 0;
      for (const candidate of reply.candidates) {
        // The caller's format may have no place for the stop detail, so the answer must not be reused.
        if (candidate.stopDetail !== null) call.answerReusable = false;
        parts.signatures.keep(call, signedBy(model, signedCalls(candidate)));
        for (const part of candidate.parts)
          outputCharacters += part.kind === "tool_call" ? part.arguments.length : part.kind === "picture" ? 0 : part.text.length;
      }
      const answer = caller.writeReply(reply, context);
      noteReferable(conversation, caller.referable?.(answer, inbound.body));
      return { body: encoder.encode(JSON.stringify(answer)), usage: reply.usage, outputCharacters };
    },
    refusal(status, bytes, headers) {
      const fault = { ...codec.readFault(status, objectOf(bytes), headers), ...retryAfterIn(headers) };
      return encoder.encode(JSON.stringify(caller.writeFault(fault, call.id)));
    },
  };
}

async function signedAgain(
  call: Call,
  request: ConversationRequest,
  model: ModelEntry,
  signatures: SignatureCache,
): Promise<ConversationRequest> {
  const callIds = unsignedCallIds(request);
  if (callIds.length === 0) return request;
  const kept = await signatures.find(call, callIds);
  return withSignatures(request, (callId) => {
    const signed = kept.get(callId);
    return signed === undefined ? null : readableBy(model, signed);
  });
}

function unsupported(fields: readonly FieldError[]): Refusal {
  return refuse("unsupported_parameter", undefined, { fields: fields.slice(0, MAX_PROBLEMS) });
}

function objectOf(bytes: Uint8Array): JsonObject | null {
  try {
    const text = new TextDecoder().decode(bytes);
    const parsed: unknown = withExactTools<unknown>(JSON.parse(text), text);
    // Google wraps the error of a streaming call in an array.
    const value: unknown = Array.isArray(parsed) && parsed.length === 1 ? parsed[0] : parsed;
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
