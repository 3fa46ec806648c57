import { isRefusal, refuse } from "../../../kernel/errors.ts";
import { ulid } from "../../../kernel/ids.ts";
import type { Call } from "../../../road/call.ts";
import { isObject, type JsonObject, type JsonValue } from "../../../kernel/json-value.ts";
import { type ClientInput, questionFor } from "./client-question.ts";
import type { ForwardedRequest } from "../forwarding/forwarded-request.ts";
import type { ToolParts } from "../tool-parts.ts";

/** Adds an elicitation ID to URL elicitations, which only the handshake dialect has. */
function identified(params: JsonValue): JsonValue {
  return isObject(params) && params.mode === "url" ? { elicitationId: ulid(), ...params } : params;
}

/** Asks the caller one question after another. Returns all responses, or a refusal. */
export async function* questionsForClient(
  call: Call,
  forwarded: ForwardedRequest,
  requests: JsonValue | undefined,
  parts: ToolParts,
): AsyncGenerator<string, ClientInput> {
  const responses: JsonObject = {};
  for (const [key, request] of Object.entries(isObject(requests) ? requests : {})) {
    if (!isObject(request) || typeof request.method !== "string")
      return { refusal: refuse("upstream_invalid_response", "The tool server asked for input in a way that cannot be read.") };
    const question = questionFor(
      forwarded,
      request.method,
      request.params === undefined ? null : JSON.stringify(identified(request.params)),
      call.abort.signal,
      parts,
    );
    if (isRefusal(question)) return { refusal: question };
    yield question.text;
    const answer = await question.given;
    if ("refusal" in answer) return answer;
    if (answer.given.result === undefined) return { refusal: refuse("input_not_supported", notGiven(answer.given.error)) };
    responses[key] = answer.given.result;
  }
  return { given: responses };
}

function notGiven(error: JsonValue | undefined): string {
  const why = isObject(error) && typeof error.message === "string" ? ` ${error.message.slice(0, 300)}` : "";
  return `The client did not give the input the tool server asked for.${why}`;
}
