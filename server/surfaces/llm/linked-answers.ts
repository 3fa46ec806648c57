import { isRefusal, type Refusal } from "../../kernel/errors.ts";
import { type Call, noteAddedBytes } from "../../road/call.ts";
import type { PreviousAnswer } from "../../road/request/conversation.ts";
import { invalidRequest } from "../../road/request/invalid-request.ts";
import type { ResponsesRequest } from "../../wire/responses/responses-request.ts";
import type { ResponseServices } from "./response-services.ts";

/** Refuses conversations stored at the vendor, whose owner the gateway cannot know; null if the request names none. */
export function conversationElsewhere({ body }: ResponsesRequest): Refusal | null {
  if (body.conversation === undefined || body.conversation === null) return null;
  return invalidRequest([
    { field: "conversation", message: "is not served here: name the response to go on from as `previous_response_id`" },
  ]);
}

/** Inserts the earlier items that a request refers to, and returns the answer it continues; null if it names none. */
export async function linkedAnswer(
  call: Call,
  { items, responses }: Pick<ResponseServices, "items" | "responses">,
  inbound: ResponsesRequest,
): Promise<PreviousAnswer | Refusal | null> {
  if (inbound.namesItems) {
    const { problems, bytes } = inbound.putNamedItems(await items.find(call, inbound.namedItems));
    if (problems.length > 0) return invalidRequest(problems);
    noteAddedBytes(call, bytes);
  }
  const id = inbound.previousResponseId;
  if (id === null) return null;
  const found = await responses.find(call, id);
  if (found !== null && isRefusal(found)) return found;
  return { field: "previous_response_id", id, providerKey: found?.providerKey ?? null };
}
