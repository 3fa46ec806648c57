import { type JsonObject, objectInJson } from "../../kernel/json-value.ts";
import { filledOf, objectOf } from "../../wire/openai/loose-fields.ts";
import type { Call } from "../../road/call.ts";
import { CHARACTERS_PER_TOKEN } from "../../wire/usage.ts";
import { governedBody } from "../../wire/realtime/session-settings.ts";
import type { ClientSocket } from "./client-socket.ts";
import { forward } from "./forward.ts";
import type { InputAudio } from "./input-audio.ts";
import { askingEvents, type PendingItems } from "./pending-items.ts";
import { problemEvent } from "./realtime-refusals.ts";
import type { SessionTerms } from "./session-terms.ts";
import { responseRoute } from "./respond.ts";

export interface AskedForResponse {
  readonly held: JsonObject;
  readonly response: JsonObject;
  readonly eventId: string | null;
  readonly earlierCharacters: number;
  readonly input: InputAudio;
  readonly mayHear: (call: Call) => boolean;
  readonly signal: AbortSignal;
}

/** Makes one response as a governed call. Resolves to the status of its answer, and to the length of the conversation after it. */
export async function governedResponse(
  terms: SessionTerms,
  client: ClientSocket,
  pending: PendingItems,
  { held, response, eventId, earlierCharacters, input, mayHear, signal }: AskedForResponse,
): Promise<{ readonly status: number; readonly characters: number }> {
  const { road, models, connection, modelId, url, headers, ip } = terms;
  const isApart = Array.isArray(response.input);
  const items = isApart ? [] : pending.all;
  const body = governedBody(modelId, held, response, isApart ? (response.input as JsonObject[]) : items.map(({ item }) => item));
  let isAsked = false;
  let responseId: string | null = null;
  const { unansweredTokens: heardTokens } = input;
  const ask = (passed: string) => {
    isAsked = true;
    if (!isApart) input.asked();
    return connection.ask(askingEvents(passed, response, isApart, items), eventId);
  };
  const heard = { heardTokens, mayHear };
  const route = responseRoute({ models, clientId: eventId, earlierCharacters, ...heard, responseId: () => responseId, ask });
  const init = { method: "POST", headers: new Headers(headers), body, signal };
  init.headers.set("content-type", "application/json");
  init.headers.delete("content-length");
  const answer = await road.handle(route, new Request(url, init), ip);
  const { status } = answer;
  if (isAsked || (status >= 400 && status < 429)) pending.drop(items);
  if (answer.headers.get("content-type")?.startsWith("text/event-stream") !== true || answer.body === null) {
    client.tell(refusalIn(await answer.text()));
    return { status, characters: earlierCharacters };
  }
  const tokens = await forward(answer.body, client, connection, (id) => (responseId = id));
  const after = tokens === null ? earlierCharacters + body.length : tokens * CHARACTERS_PER_TOKEN;
  return { status, characters: isApart ? earlierCharacters : after };
}

/** The road's refusals are error events already; errors that it wrote itself are not. */
function refusalIn(body: string): JsonObject {
  const event = objectInJson(body);
  if (event?.type === "error") return event;
  const message = filledOf(objectOf(event?.error)?.message) ?? "The model did not answer.";
  return problemEvent({ code: "upstream_error", message, param: null }, null);
}
