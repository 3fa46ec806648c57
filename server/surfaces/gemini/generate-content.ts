import type { Dispatch } from "../../services/models/dispatch.ts";
import { invalidRequest } from "../../road/request/invalid-request.ts";
import type { Call } from "../../road/call.ts";
import type { Exchange, Surface } from "../../road/surface.ts";
import { type Refusal } from "../../kernel/errors.ts";
import { GeminiArrayReader } from "../../wire/gemini/array-reader.ts";
import { geminiArrayWriter } from "../../wire/gemini/array-writer.ts";
import { geminiCodec } from "../../wire/gemini/gemini-codec.ts";
import { readGeminiReply } from "../../wire/gemini/gemini-reply.ts";
import { readGeminiRequest } from "../../wire/gemini/gemini-request.ts";
import { GeminiArrayStream, GeminiStream } from "../../wire/gemini/gemini-stream.ts";
import { conversationExchange } from "../llm/conversation.ts";
import { modelOfPath } from "./model-path.ts";
import { arrayError, geminiRefusals } from "./refusals.ts";

/** POST /v1beta/models/{model}:generateContent (interface 4.3). */
export const generateContent = (models: Dispatch): Surface => ({
  ...geminiRefusals,
  namesFiles: "gemini",
  read: (call, body) => generate(models, call, body, "whole"),
});

/** POST /v1beta/models/{model}:streamGenerateContent: events with alt=sse, otherwise one JSON array in pieces. */
export const streamGenerateContent = (models: Dispatch): Surface => ({
  ...geminiRefusals,
  namesFiles: "gemini",
  read: (call, body) => generate(models, call, body, formOf(call)),
  streamError: (refusal, call, last) =>
    formOf(call) === "array" ? arrayError(refusal, last !== null) : geminiRefusals.streamError(refusal, call, last),
});

function formOf(call: Call): "events" | "array" {
  return new URL(call.url).searchParams.get("alt") === "sse" ? "events" : "array";
}

function generate(models: Dispatch, call: Call, body: Uint8Array | null, form: "whole" | "events" | "array"): Exchange | Refusal {
  const inbound = readGeminiRequest(body ?? new Uint8Array(0), { model: modelOfPath(call.path), stream: form !== "whole" });
  if ("fields" in inbound) return invalidRequest(inbound.fields);
  return conversationExchange(
    models,
    {
      inbound,
      caller: geminiCodec,
      passing: {
        stream: () => (form === "array" ? new GeminiArrayStream() : new GeminiStream()),
        reply: readGeminiReply,
        ...(form === "array" ? { operation: "gemini_array" } : {}),
      },
      writer: form === "array" ? geminiArrayWriter : null,
      ...(form === "array" ? { reader: () => new GeminiArrayReader() } : {}),
      streamType: form === "array" ? "application/json" : "text/event-stream",
      // No keep-alives: Google's clients for Python and Go take a comment for an error, and its older JavaScript clients find no event
      // after blank lines.
      silent: true,
      includeUsage: true,
      headers: {},
      statefulFields: [],
    },
    ["chat", "responses"],
  );
}
