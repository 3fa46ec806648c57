import type { ToolParts } from "./tool-parts.ts";

type Parts = Pick<ToolParts, "memory" | "letters" | "secrets">;

const keyOf = (session: string, id: unknown) => `${session}\n${String(id)}`;

/** The session's own text is a credential of its caller, so it stands nowhere. */
const recipientOf = ({ secrets }: Parts, key: string) => `cancelled ${secrets.hmac("mcp-cancelled", key)}`;

/** Lets a `notifications/cancelled` of the session end the request, until what it returns is called. `anywhere`: also one that comes to another process. */
export function cancellableRequest(parts: Parts, session: string, id: unknown, abort: AbortController, anywhere: boolean): () => void {
  const key = keyOf(session, id);
  parts.memory.underWay.set(key, abort);
  const stop = anywhere ? parts.letters.wait(recipientOf(parts, key), () => abort.abort("client_disconnected")) : () => undefined;
  return () => {
    stop();
    if (parts.memory.underWay.get(key) === abort) parts.memory.underWay.delete(key);
  };
}

/** Ends the request a caller cancels, whichever process it is under way in. */
export async function cancelRequest(parts: Parts, session: string, id: unknown): Promise<void> {
  const key = keyOf(session, id);
  const here = parts.memory.underWay.get(key);
  if (here !== undefined) here.abort("client_disconnected");
  else await parts.letters.send(recipientOf(parts, key), {}).catch(() => undefined);
}
