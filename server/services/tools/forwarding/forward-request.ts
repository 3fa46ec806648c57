import { type Refusal, refuse, isRefusal } from "../../../kernel/errors.ts";
import { isObject } from "../../../kernel/json-value.ts";
import { answers, edited, errorText, idIn, memberText, requestText, resultText } from "../../../wire/mcp/rpc.ts";
import type { Call } from "../../../road/call.ts";
import { type ClientInput, questionFor } from "../questions/client-question.ts";
import { questionsForClient } from "../questions/client-questions.ts";
import { inspectedMessage } from "../answers/inspected-message.ts";
import { type ServerRequest, openExchange } from "./server-exchange.ts";
import type { Asked } from "./exchange.ts";
import { gatedAnswer } from "./forwarded-answer.ts";
import type { ForwardedRequest } from "./forwarded-request.ts";
import { heldAnswer, openFirst, resumeHeld } from "../questions/held-questions.ts";
import { readExactly, isForCaller, MAX_QUESTIONS, questionsTogether, cancelledQuestion } from "../questions/questions-together.ts";
import type { Relay } from "../answers/relay.ts";
import type { ToolParts } from "../tool-parts.ts";
import type { UpstreamMessage } from "./upstream-messages.ts";
import { withinSilence } from "./within-silence.ts";

/** Limits how often a server may ask for further input. */
const MAX_ROUNDS = 8;

/** Forwards the request, and the server's messages back to the caller. */
export async function* forwardRequest(call: Call, request: ForwardedRequest, parts: ToolParts): Relay {
  const ask: ServerRequest = {
    method: request.method,
    params: request.params,
    capability: request.capability,
    arguments: request.parsed.arguments,
    sender: request.sender,
    id: request.id,
  };
  const resumed = request.dialect === "stateless" && request.server.dialect !== "stateless" ? await resumeHeld(call, request, parts) : null;
  if (resumed !== null && "answer" in resumed) return resumed.answer;
  let exchange: Asked | Refusal = resumed ?? (await openExchange(call, request.server, ask, parts));
  for (let round = 0; round < MAX_ROUNDS; round++) {
    if (isRefusal(exchange)) return exchange;
    let final: UpstreamMessage | Refusal | string | null = null;
    try {
      final = yield* untilFinal(call, request, exchange, parts);
    } finally {
      // A string is the answer for a caller who must supply input; the held exchange continues with the repeated call.
      if (typeof final !== "string") exchange.end();
    }
    if (typeof final === "string") return final;
    if (isRefusal(final)) return final;
    if (final === null) return refuse("upstream_interrupted", "The tool server ended its answer before it was whole.");
    const { result } = final.value;
    if (request.dialect === "stateless" || !isObject(result) || result.resultType !== "input_required")
      return gatedAnswer(request, exchange, final, openFirst(call, request, final, parts));
    const inspected = await request.gate(final.text, result);
    if (inspected !== null && typeof inspected !== "string") return inspected;
    const { inputRequests } = readExactly(memberText(inspected ?? final.text, "result"));
    const responses = yield* questionsForClient(call, request, inputRequests, parts);
    if ("refusal" in responses) return responses.refusal;
    const params = edited(request.params ?? "{}", {
      inputResponses: JSON.stringify(responses.given),
      ...(result.requestState === undefined ? {} : { requestState: JSON.stringify(result.requestState) }),
    });
    exchange = await openExchange(call, request.server, { ...ask, params, id: `${String(request.id)}/${round + 2}` }, parts);
  }
  return refuse("upstream_invalid_response", "The tool server asked for input again and again.");
}

/** Whether a message is a notification that must not reach the caller. */
function isUnheard(request: ForwardedRequest, message: UpstreamMessage): boolean {
  const { method, id } = message.value;
  return (
    typeof method === "string" && id === undefined && cancelledQuestion(message) === null && !isForCaller(request, method, message.value)
  );
}

/** Yields the messages before the answer and returns the answer; a string is already in the caller's form. */
async function* untilFinal(
  call: Call,
  request: ForwardedRequest,
  exchange: Asked,
  parts: ToolParts,
): AsyncGenerator<string, UpstreamMessage | Refusal | string | null> {
  // Questions that the caller has not answered yet, by the server's request IDs.
  const questions = new Map<string, { readonly id: string; readonly over: AbortController }>();
  let answeredAt = 0;
  const look = async (message: UpstreamMessage) => (isUnheard(request, message) ? null : inspectedMessage(call, exchange, message, parts));
  for (;;) {
    // Not `for await`, because leaving the loop would close an exchange that is to be held.
    const next = await withinSilence(exchange, request.server.timeoutMs, () =>
      questions.size > 0 ? Number.POSITIVE_INFINITY : answeredAt,
    );
    if (next === "silent") return refuse("upstream_timeout", "The tool server did not answer in time.");
    if (next.done === true || next.value === undefined) return null;
    if (answers(next.value.value, exchange.id)) return next.value;
    const message = await look(next.value);
    const method = message?.value.method;
    if (message === null || typeof method !== "string") continue;
    const id = idIn(memberText(message.text, "id"), message.value.id);
    if (message.value.id === undefined) {
      const takenBack = cancelledQuestion(message);
      const question = takenBack === null ? undefined : questions.get(JSON.stringify(takenBack));
      if (question !== undefined) {
        questions.delete(JSON.stringify(takenBack));
        question.over.abort();
        yield requestText(null, method, edited(memberText(message.text, "params") ?? "{}", { requestId: JSON.stringify(question.id) }));
      } else if (takenBack === null && isForCaller(request, method, message.value)) yield message.text;
    } else if (method === "ping") await exchange.respond(resultText(id, "{}"));
    else if (request.dialect === "stateless") {
      const together = yield* questionsTogether(request, exchange, message, look);
      if ("final" in together) return together.final;
      return heldAnswer(call, request, together.exchange, together.questions, parts);
    } else {
      // Keep reading, because the server may send other messages while it waits for the answer.
      const key = JSON.stringify(id);
      // An ID stays bound to its question while that is open.
      if (questions.has(key)) continue;
      const over = new AbortController();
      const question =
        questions.size < MAX_QUESTIONS
          ? questionFor(request, method, memberText(message.text, "params"), AbortSignal.any([exchange.abort.signal, over.signal]), parts)
          : refuse("input_not_supported", "The client has enough to answer.");
      const respond = (answer: ClientInput) =>
        exchange.respond(
          "refusal" in answer
            ? errorText(id, { code: -32601, message: answer.refusal.message })
            : JSON.stringify({ ...answer.given, jsonrpc: "2.0", id }),
        );
      if (isRefusal(question)) await respond({ refusal: question });
      else {
        questions.set(key, { id: question.id, over });
        void question.given.then((answer) => {
          // Do not answer a question that was cancelled or whose exchange has ended.
          if (over.signal.aborted || exchange.abort.signal.aborted) return undefined;
          questions.delete(key);
          answeredAt = performance.now();
          return respond(answer);
        });
        yield question.text;
      }
    }
  }
}
