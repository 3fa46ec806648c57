import { isRefusal, type Refusal, refuse } from "../../kernel/errors.ts";
import type { Answer } from "../../road/answer.ts";
import type { Call } from "../../road/call.ts";
import type { Conversation } from "../../road/request/conversation.ts";
import { EMPTY_VIEW } from "../../road/request/empty-view.ts";
import type { Exchange, Surface } from "../../road/surface.ts";
import type { RequestView } from "../../road/view.ts";
import { type ResponseQuery, noSuchResponse } from "../../services/models/responses/ask-responses.ts";
import type { ResponsePlace } from "../../services/models/responses/response-records.ts";
import type { StoredResponses } from "../../services/models/responses/stored-responses.ts";
import { JsonDocument } from "../../wire/json/document.ts";
import { responsesCodec } from "../../wire/responses/responses-codec.ts";
import { readResponsesReply } from "../../wire/responses/responses-reply.ts";
import { ResponsesRequest } from "../../wire/responses/responses-request.ts";
import { ResponsesStream } from "../../wire/responses/responses-stream.ts";
import { inputItemsTexts, isResponseId } from "../../wire/responses/stored-response.ts";
import { responsesRefusals } from "./refusals.ts";

/** Operations on responses stored by providers, by the providers' IDs. */

type Stored = Pick<StoredResponses, "find" | "ask" | "delete">;

interface Question {
  readonly of: ResponseQuery["of"];
  readonly method: ResponseQuery["method"];
  /** Allowed query parameters, with the pattern of their values. */
  readonly query: Readonly<Record<string, RegExp>>;
}

const WORD = /^[A-Za-z0-9_.:-]{1,256}$/;
const FLAG = /^(?:true|false)$/;
const INCLUDE = { include: WORD, "include[]": WORD };

function storedResponse(stored: Stored, { of, method, query: known }: Question): Surface {
  return {
    ...responsesRefusals,
    async read(call): Promise<Exchange | Refusal> {
      const query = readQuery(call, known);
      if (isRefusal(query)) return query;
      const id = idIn(call);
      if (isResponseId(id)) noteResponse(call, id);
      const place = await stored.find(call, id);
      if (place === null) return noSuchResponse(id);
      if (isRefusal(place)) return place;
      const stream = query.get("stream") === "true";
      const storedQuery = { of, method, query: query.toString(), stream };
      return {
        view: viewOf(place, stream),
        ...(method === "DELETE" ? {} : of === "input_items" ? { output: ITEMS } : { conversation: givenAgain(stream) }),
        answer: (asking) => (method === "DELETE" ? stored.delete(asking, place) : given(asking, stored, place, storedQuery)),
      };
    },
  };
}

/** Includes what the model answered before. */
const ITEMS = { texts: inputItemsTexts, framing: "events", tellsCalls: true } as const;

async function given(call: Call, stored: Stored, place: ResponsePlace, query: ResponseQuery): Promise<Answer | Refusal> {
  const answer = await stored.ask(call, place, query);
  if (!isRefusal(answer) && answer.status < 300 && query.of !== "input_items") answer.headers["x-gw-ai-generated"] = "true";
  return answer;
}

/** Targets the model without making a request to it: the response was limited and metered when it was created. */
function viewOf({ modelId }: ResponsePlace, streaming: boolean): RequestView {
  return { ...EMPTY_VIEW, streaming, target: { kind: "model", name: null, id: modelId, modes: ["responses", "chat"], madeBefore: true } };
}

/** How to read a response that was created by an earlier request. */
function givenAgain(stream: boolean): Conversation {
  return {
    inbound: new ResponsesRequest(JsonDocument.read(new TextEncoder().encode(JSON.stringify({ input: "", stream }))) as JsonDocument),
    caller: responsesCodec,
    passing: { stream: () => new ResponsesStream(), reply: (bytes) => readResponsesReply(bytes) },
    writer: null,
    streamType: "text/event-stream",
    includeUsage: true,
    headers: {},
    statefulFields: [],
  };
}

/** Records on the row which response the call was about, whether or not it is the caller's. */
function noteResponse({ row }: Call, id: string): void {
  row.custom_metadata = { ...(row.custom_metadata as object | null | undefined), response: { response_id: id } };
}

/** The provider's ID in the path; empty if it is invalid. */
function idIn({ path }: Call): string {
  const segment = /\/responses\/([^/]*)/.exec(path)?.[1] ?? "";
  try {
    return decodeURIComponent(segment);
  } catch {
    return "";
  }
}

/** The query parameters, which must be known and valid. */
function readQuery(call: Call, known: Question["query"]): URLSearchParams | Refusal {
  const { searchParams } = new URL(call.url);
  for (const [name, value] of searchParams) {
    const form = Object.hasOwn(known, name) ? known[name] : undefined;
    const message = form === undefined ? "is not known here" : form.test(value) ? null : "is not valid";
    if (message !== null) return refuse("invalid_query", undefined, { fields: [{ field: name.slice(0, 100), message }] });
  }
  return searchParams;
}

/** GET /v1/proxy/llm/responses/{response_id} */
export const responseRetrieve = (stored: Stored): Surface =>
  storedResponse(stored, {
    of: "response",
    method: "GET",
    query: { ...INCLUDE, stream: FLAG, include_obfuscation: FLAG, starting_after: /^\d{1,9}$/ },
  });

/** POST /v1/proxy/llm/responses/{response_id}/cancel */
export const responseCancel = (stored: Stored): Surface => storedResponse(stored, { of: "cancel", method: "POST", query: {} });

/** DELETE /v1/proxy/llm/responses/{response_id} */
export const responseDelete = (stored: Stored): Surface => storedResponse(stored, { of: "response", method: "DELETE", query: {} });

/** GET /v1/proxy/llm/responses/{response_id}/input_items */
export const responseInputItems = (stored: Stored): Surface =>
  storedResponse(stored, {
    of: "input_items",
    method: "GET",
    query: { ...INCLUDE, limit: /^\d{1,4}$/, order: /^(?:asc|desc)$/, after: WORD, before: WORD },
  });
