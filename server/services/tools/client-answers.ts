import { timingSafeEqual } from "node:crypto";
import { ulid } from "../../kernel/ids.ts";
import type { JsonObject } from "../../wire/document.ts";
import type { ToolParts } from "./tool-parts.ts";

const WAIT_MS = 600_000;
/** Of the requests this gateway makes: an answer to any other is ignored. */
const OWN_ID = /^gw-[0-9A-Z]{26}(?:-[0-9a-f]{32})?$/;

const markOf = ({ secrets }: Pick<ToolParts, "secrets">, id: string) => secrets.hmac("mcp-own-question", id).slice(0, 32);

/** The id of a request this gateway makes itself in a session that is another's: a tool server's own ids never look like it. */
export function gatewayRequestId(parts: Pick<ToolParts, "secrets">): string {
  const id = `gw-${ulid()}`;
  return `${id}-${markOf(parts, id)}`;
}

export function isGatewayRequestId(parts: Pick<ToolParts, "secrets">, id: unknown): id is string {
  if (typeof id !== "string" || id.length !== 62 || !OWN_ID.test(id)) return false;
  return timingSafeEqual(Buffer.from(id.slice(30)), Buffer.from(markOf(parts, id.slice(0, 29))));
}

const keyOf = (session: string, id: string) => `${session}\n${id}`;

/** The caller's answer to a request of this id in this session, whichever process it comes to; null when none comes. */
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
