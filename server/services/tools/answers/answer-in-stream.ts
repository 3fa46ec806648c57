import { refuse, type Refusal } from "../../../kernel/errors.ts";
import type { RequestHeaders } from "../../../kernel/http/request-headers.ts";
import { answers, type RpcId } from "../../../wire/mcp/rpc.ts";
import type { Call } from "../../../road/call.ts";
import { answerInTime } from "../forwarding/answer-in-time.ts";
import { answerOf, type Relay } from "./relay.ts";
import { upstreamMessages } from "../forwarding/upstream-messages.ts";

/** Whether the caller accepts event streams. Without an Accept header it accepts anything. */
export function takesEvents(headers: RequestHeaders): boolean {
  return /text\/event-stream|text\/\*|\*\/\*/i.test(headers.get("accept") ?? "*/*");
}

/** Extracts the answer to request `id` from an event stream. Messages before it are dropped. */
export async function answerInStream(call: Call, response: Response, id: RpcId | null, timeoutMs: number): Promise<Response | Refusal> {
  const text = await answerInTime(answerOf(call, untilAnswer(response, id)), timeoutMs, call.abort);
  return typeof text === "string" ? new Response(text, { status: response.status }) : text;
}

async function* untilAnswer(response: Response, id: RpcId | null): Relay {
  for await (const { text, value } of upstreamMessages(response)) {
    if (answers(value, id)) return text;
    yield text;
  }
  return refuse("upstream_interrupted", "The tool server ended its answer before it was whole.");
}
