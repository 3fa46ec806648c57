import type { JsonObject } from "../../../kernel/json-value.ts";
import { OWN_ID } from "../forwarding/gateway-request-id.ts";
import type { ToolParts } from "../tool-parts.ts";

const WAIT_MS = 600_000;
const keyOf = (session: string, id: string) => `${session}\n${id}`;

/**
 * Waits for the client's response to the request with this ID, whichever process receives it. Resolves to null after `WAIT_MS` or when
 * `signal` aborts.
 */
export function awaitClientAnswer(
  { memory, processMessages, secrets }: ToolParts,
  session: string,
  id: string,
  signal: AbortSignal,
): Promise<JsonObject | null> {
  const key = keyOf(session, id);
  return new Promise((resolve) => {
    const done = (answer: JsonObject | null) => {
      clearTimeout(timer);
      stop();
      signal.removeEventListener("abort", gone);
      memory.clientAnswers.delete(key);
      resolve(answer);
    };
    const gone = () => done(null);
    const timer = setTimeout(gone, WAIT_MS);
    const stop = processMessages.wait(recipientOf(secrets, key), (message) => done(message as JsonObject));
    signal.addEventListener("abort", gone, { once: true });
    memory.clientAnswers.set(key, done);
    if (signal.aborted) gone();
  });
}

/** Delivers a response to the exchange that waits for it, in this or another process. */
export async function deliverClientAnswer(
  { memory, processMessages, secrets }: ToolParts,
  session: string,
  id: string,
  answer: JsonObject,
): Promise<void> {
  const key = keyOf(session, id);
  const waiting = memory.clientAnswers.get(key);
  if (waiting !== undefined) waiting(answer);
  else if (OWN_ID.test(id)) await processMessages.send(recipientOf(secrets, key), answer);
}

/** The session ID is a credential of its caller, so only a MAC of it is published. */
function recipientOf(secrets: ToolParts["secrets"], key: string): string {
  return `answer ${secrets.hmac("mcp-client-answer", key)}`;
}
