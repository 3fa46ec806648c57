import type { JsonObject } from "../../../kernel/json-value.ts";
import { OWN_ID } from "../forwarding/gateway-request-id.ts";
import type { ToolParts } from "../tool-parts.ts";

const WAIT_MS = 600_000;
const keyOf = (session: string, id: string) => `${session}\n${id}`;

/** Waits for the client's answer to the request with this id in this session, in whichever process it arrives; null when none comes. */
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

/** Delivers an answer to the exchange that waits for it, here or in another process. */
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

/** The session's own text is a credential of its caller, so it stands nowhere. */
function recipientOf(secrets: ToolParts["secrets"], key: string): string {
  return `answer ${secrets.hmac("mcp-client-answer", key)}`;
}
