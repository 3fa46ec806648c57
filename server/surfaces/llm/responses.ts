import { isRefusal, type Refusal } from "../../kernel/errors.ts";
import type { Answer } from "../../road/answer.ts";
import type { Call } from "../../road/call.ts";
import type { PreviousAnswer, SealsTold } from "../../road/conversation.ts";
import { estimated } from "../../road/metering/stream-usage.ts";
import { invalidRequest } from "../../road/invalid-request.ts";
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

/** POST /responses: plain, streamed, and in the background where somebody could ask for the answer (interface 4.2). */
export const responses = (services: ResponseServices): Surface => ({
  ...responsesRefusals,
  namesFiles: "responses",
  read(call, body) {
    const inbound = readResponsesRequest(body ?? new Uint8Array(0));
    if ("fields" in inbound) return invalidRequest(inbound.fields);
    const elsewhere = conversationElsewhere(inbound);
    if (elsewhere !== null) return elsewhere;
    // The answer of a line is what its batch holds: nothing would bring what is written later into it.
    if (inbound.background && call.audit.proxySubtype !== "responses")
      return invalidRequest([{ field: "background", message: "must not be set here: the answer is given with the others" }]);
    if (!inbound.namesItems && inbound.previousResponseId === null) return exchange(call, services, inbound, null);
    return readLinked(call, services, inbound);
  },
});

/** A request that names what answers before it left. */
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

/** Keeps whose a response is; false where nobody could find it again. */
type NoteResponse = (response: JsonObject) => boolean;

/** A streamed response, of which it is kept whose it is: of one only, whatever else its provider says. */
class KeptStream extends ResponsesStream {
  private readonly state: { kept: boolean | null };
  private readonly inbound: Pick<ResponsesRequest, "background" | "inputCharacters">;

  constructor(note: NoteResponse, sealed: SealsTold, inbound: Pick<ResponsesRequest, "background" | "inputCharacters">) {
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

  /**
   * What was used of one that did not come to its end: of one in the background where nobody could find it again, of every other where
   * its vendor's tools were used, whose fee an estimate from texts leaves out.
   */
  override get usage(): Usage | null {
    const told = super.usage;
    const { searches } = this;
    const { told: uses } = this.uses;
    const { background, inputCharacters } = this.inbound;
    if (told !== null || (background ? this.state.kept === true : searches === 0 && uses.toolUses === undefined)) return told;
    return { ...estimated(inputCharacters, this.outputLength), ...(searches > 0 && { webSearches: searches }), ...uses };
  }
}

/** An answer that its provider goes on with when its caller is gone: what it used is told of it when it has ended. */
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
