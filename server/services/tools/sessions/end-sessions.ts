import { cancelQuietly } from "../../../kernel/http/cancel-quietly.ts";
import type { ToolServerSend } from "../../../upstreams/tool-servers/send.ts";
import { type Refusal, isRefusal } from "../../../kernel/errors.ts";
import type { ToolParts } from "../tool-parts.ts";
import type { PooledSession } from "../forwarding/exchange.ts";
import { dropSession, sessionHeaders } from "./session-pool.ts";

const END_TIMEOUT_MS = 2_000;

/** Tells the server that its session is no longer needed, whether or not the server supports that. Never rejects. */
export async function endSession(session: PooledSession, send: ToolServerSend, abort = new AbortController()): Promise<void> {
  if (session.id === null) return;
  const response = await send({
    url: session.url,
    method: "DELETE",
    headers: { ...session.headers, ...sessionHeaders(session) },
    abort,
    timeoutMs: END_TIMEOUT_MS,
  });
  if (!isRefusal(response)) await cancelQuietly(response.body);
}

const ENDED_AT_ONCE = 16;

type KeptSessions = Pick<ToolParts, "send" | "memory">;

/** Ends the pooled sessions of a caller session, by its name. */
export function endSessionsOf(name: string, kept: KeptSessions): Promise<void> {
  return endSessions(
    kept,
    [...kept.memory.sessions.keys()].filter((key) => key.includes(name)),
  );
}

export function endAllSessions(kept: KeptSessions): Promise<void> {
  return endSessions(kept, [...kept.memory.sessions.keys()]);
}

/** Long enough for clients to come back the next day. */
const MAX_IDLE_MS = 86_400_000;

/** Ends sessions that were idle for a day, because many clients never end theirs. */
export async function endIdleSessions(kept: KeptSessions, now = performance.now()): Promise<void> {
  const { sessions, feeds } = kept.memory;
  const idle: string[] = [];
  for (const key of [...sessions.keys()]) {
    const session = (await sessions.get(key)) as PooledSession | Refusal | undefined;
    if (
      session !== undefined &&
      !isRefusal(session) &&
      now - session.usedAt > MAX_IDLE_MS &&
      session.exchanges.size === 0 &&
      !feeds.has(key)
    )
      idle.push(key);
  }
  await endSessions(kept, idle);
}

/** Takes at most `END_TIMEOUT_MS`. */
async function endSessions({ send, memory }: KeptSessions, keys: string[]): Promise<void> {
  if (keys.length === 0) return;
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort("session_not_ended"), END_TIMEOUT_MS);
  const end = async () => {
    for (let key = keys.pop(); key !== undefined && !abort.signal.aborted; key = keys.pop()) {
      const session = (await memory.sessions.get(key)) as PooledSession | Refusal | undefined;
      if (session === undefined || isRefusal(session)) continue;
      dropSession(session, { memory });
      await endSession(session, send, abort);
    }
  };
  // Includes sessions that are still being opened.
  const late = new Promise((resolve) => abort.signal.addEventListener("abort", resolve, { once: true }));
  await Promise.race([late, Promise.all(Array.from({ length: ENDED_AT_ONCE }, end))]);
  clearTimeout(timer);
}
