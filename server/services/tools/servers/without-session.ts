import { type Refusal, refuse } from "../../../kernel/errors.ts";
import { isTaskMethod } from "../../../wire/mcp/capability.ts";
import { isStatelessOnly } from "../../../wire/mcp/dialect.ts";
import { resultText, type RpcMessage } from "../../../wire/mcp/rpc.ts";
import type { Answer } from "../../../road/answer.ts";
import type { Call } from "../../../road/call.ts";
import { takesEvents } from "../answers/answer-in-stream.ts";
import { acceptedAnswer, relayAnswer, wholeAnswer, wholeRelayAnswer } from "../answers/relay.ts";
import { methodNotServed, type SynthesizedServer } from "./synthesized-server.ts";

/** The version that a client of the handshake dialect is taken to speak if it names none. */
const UNNAMED_VERSION = "2025-03-26";
/** What these ask for would have to be remembered for the caller. */
const NEEDS_SESSION = new Set(["logging/setLevel", "resources/subscribe", "resources/unsubscribe"]);

/**
 * Serves a handshake client that did not begin a session: only servers behind the gateway need one. Such a client cannot be asked
 * anything, and what it sends outside a session can refer to nothing.
 */
export async function serveWithoutSession(
  call: Call,
  message: RpcMessage | null,
  version: string | null,
  server: SynthesizedServer,
): Promise<Answer | Refusal> {
  if (message === null || message.kind === "response" || NEEDS_SESSION.has(message.method ?? "")) return refuse("session_required");
  if (message.kind === "notification") return acceptedAnswer();
  if (isTaskMethod(message.method) || isStatelessOnly(message.method)) return wholeAnswer(call, methodNotServed(message.id), "handshake");
  if (message.method === "ping") return wholeAnswer(call, resultText(message.id, "{}"), "handshake");
  const sender = { version: version ?? UNNAMED_VERSION, capabilities: {}, clientInfo: null, logLevel: null, session: null };
  const answered = takesEvents(call.headers) ? relayAnswer : wholeRelayAnswer;
  return answered(call, server.forward(message, sender, call.id), "handshake");
}
