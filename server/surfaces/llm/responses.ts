import { isRefusal, type Refusal } from "../../kernel/errors.ts";
import type { Answer } from "../../road/answer.ts";
import type { Call } from "../../road/call.ts";
import type { PreviousAnswer, NoteSeals } from "../../road/request/conversation.ts";
import { meteredUsage } from "../../road/metering/stream-usage.ts";
import { invalidRequest } from "../../road/request/invalid-request.ts";
import type { Exchange, Surface } from "../../road/surface.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { replyObject } from "../../wire/openai/reply-object.ts";
import { sealsIn } from "../../wire/responses/item-references.ts";
import { responsesCodec } from "../../wire/responses/responses-codec.ts";
import { readResponsesReply } from "../../wire/responses/responses-reply.ts";
import { readResponsesRequest, type ResponsesRequest } from "../../wire/responses/responses-request.ts";
import { ResponsesStream } from "../../wire/responses/responses-stream.ts";
import { isOpenResponse } from "../../wire/responses/stored-response.ts";
import { statefulFields } from "../../wire/responses/stateful-fields.ts";
import type { Usage } from "../../wire/usage.ts";
import { conversationExchange, vendorHeaders } from "./conversation.ts";
import { conversationElsewhere, linkedAnswer } from "./linked-answers.ts";
import { responsesRefusals } from "./refusals.ts";
import type { ResponseServices } from "./response-services.ts";

/** POST /responses: plain, streamed, and in the background if the answer can be retrieved later (interface 4.2). */
export const responses = (services: ResponseServices): Surface => ({
  ...responsesRefusals,
  namesFiles: "responses",
  read(call, body) {
    const inbound = readResponsesRequest(body ?? new Uint8Array(0));
    if ("fields" in inbound) return invalidRequest(inbound.fields);
    const elsewhere = conversationElsewhere(inbound);
    if (elsewhere !== null) return elsewhere;
    // A batch stores the answer of a line at once; one written later could not be added.
    if (inbound.background && call.audit.proxySubtype !== "responses")
      return invalidRequest([{ field: "background", message: "must not be set here: the answer is given with the others" }]);
    if (!inbound.namesItems && inbound.previousResponseId === null) return exchange(call, services, inbound, null);
    return readLinked(call, services, inbound);
  },
});

/** A request that refers to earlier answers. */
async function readLinked(call: Call, services: ResponseServices, inbound: ResponsesRequest): Promise<Exchange | Refusal> {
  const previous = await linkedAnswer(call, services, inbound);
  return previous !== null && isRefusal(previous) ? previous : exchange(call, services, inbound, previous);
}

function exchange(call: Call, services: ResponseServices, inbound: ResponsesRequest, previous: PreviousAnswer | null): Exchange | Refusal {
  const { models, items, responses: stored } = services;
  const { background, inputCharacters, stream } = inbound;
  const note: NoteResponse = (response) =>
    inbound.body.store !== false && !(background && !stream) && stored.note(call, response, { inputCharacters, background });
  const made = conversationExchange(
    models,
    {
      inbound,
      caller: responsesCodec,
      passing: {
        stream: (sealed) => new KeptStream(note, sealed, inbound),
        reply: (bytes, sealed) =>
          readResponsesReply(
            bytes,
            (response) => {
              note(response);
              sealed(sealsIn(response.output));
            },
            background,
          ),
      },
      writer: null,
      streamType: "text/event-stream",
      includeUsage: true,
      headers: vendorHeaders(call, ["openai-beta", "idempotency-key"]),
      keep: (found) => items.keep(call, found),
      statefulFields: statefulFields(inbound.body),
      isStored: inbound.body.store !== false,
      ...(previous !== null && { previous }),
    },
    ["responses", "chat"],
  );
  if (isRefusal(made) || !background) return made;
  return { ...made, answer: (asking) => inBackground(asking, services, inbound, made) };
}

/** Records the owner of a response; false if nobody could retrieve it. */
type NoteResponse = (response: JsonObject) => boolean;

/** A streamed response whose owner is recorded, once, whatever IDs its provider sends later. */
class KeptStream extends ResponsesStream {
  private readonly state: { kept: boolean | null };
  private readonly inbound: Pick<ResponsesRequest, "background" | "inputCharacters">;

  constructor(note: NoteResponse, sealed: NoteSeals, inbound: Pick<ResponsesRequest, "background" | "inputCharacters">) {
    const state: { kept: boolean | null } = { kept: null };
    super(
      (response) => {
        state.kept ??= note(response);
      },
      true,
      sealed,
    );
    this.state = state;
    this.inbound = inbound;
  }

  /** Estimated for a background response that did not finish and that nobody could retrieve. */
  override get usage(): Usage | null {
    const reported = super.usage;
    const { background, inputCharacters } = this.inbound;
    return reported !== null || !background || this.state.kept === true
      ? reported
      : meteredUsage(null, inputCharacters, this.outputLength, this.fees);
  }
}

/** A response that its provider continues even if the caller disconnects; its usage is reported once it has ended. */
async function inBackground(
  call: Call,
  { responses: stored }: ResponseServices,
  { inputCharacters, stream }: ResponsesRequest,
  made: Exchange,
): Promise<Answer | Refusal> {
  const full = await stored.roomForOne(call);
  if (full !== null) return full;
  const answer = await made.answer(call);
  if (isRefusal(answer)) return answer;
  if (answer.kind === "stream") return { ...answer, inputCharacters: null };
  const response = stream || answer.failure !== null ? null : replyObject(answer.body);
  if (response === null || !isOpenResponse(response)) return answer;
  return (await stored.begun(call, response, { inputCharacters, background: true })) ?? answer;
}
