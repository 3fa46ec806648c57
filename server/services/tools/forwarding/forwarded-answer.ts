import type { Refusal } from "../../../kernel/errors.ts";
import { bridgedErrorCode, handshakeResult, statelessResult } from "../../../wire/mcp/bridge.ts";
import { isObject } from "../../../kernel/json-value.ts";
import { edited, errorMember, memberText, resultText } from "../../../wire/mcp/rpc.ts";
import type { Asked } from "./exchange.ts";
import type { ForwardedRequest } from "./forwarded-request.ts";
import type { UpstreamMessage } from "./upstream-messages.ts";

/** Passes an answer through the gate. `answerText`: the answer's text for the caller; null: derived from `final`. */
export async function gatedAnswer(
  request: ForwardedRequest,
  exchange: Asked,
  final: UpstreamMessage,
  said: string | null,
): Promise<string | Refusal> {
  const text = said ?? (await answerText(request, exchange, final));
  return (await request.gate(text, final.value.result)) ?? text;
}

/** The answer with the caller's ID and in the caller's dialect. */
async function answerText(request: ForwardedRequest, exchange: Asked, { text, value }: UpstreamMessage): Promise<string> {
  const to = request.dialect;
  const crosses = (request.server.dialect === "stateless") !== (to === "stateless");
  const error = errorMember(value);
  if (error !== null) {
    const written = error === value.error ? memberText(text, "error") : JSON.stringify(error);
    const code = crosses ? bridgedErrorCode(error.code, request.method, to) : error.code;
    return `{"jsonrpc":"2.0","id":${JSON.stringify(request.id)},"error":${edited(written ?? "{}", { code: JSON.stringify(code ?? -32603) })}}`;
  }
  const result = memberText(text, "result") ?? "{}";
  const own = isObject(value.result) ? ((await request.edit(value.result, result)) ?? result) : result;
  if (!crosses || !isObject(value.result)) return resultText(request.id, own);
  return resultText(request.id, to === "stateless" ? statelessResult(request.method, own, exchange.serverInfo) : handshakeResult(own));
}
