import { type Refusal, isRefusal } from "../../../kernel/errors.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";
import { changeNotifications, type ChangeFilter } from "../../../wire/mcp/changes.ts";
import type { Changes } from "./no-changes.ts";

/** Backoff before reconnecting, doubled after each attempt until a connection lasts. */
const FIRST_MS = 1_000;
const MAX_MS = 60_000;

/**
 * The change notifications of a server, with automatic reconnection. Changes may have been missed meanwhile, so everything subscribed to is
 * reported as changed after a reconnection.
 */
export function reconnectingChanges(
  first: Changes | null,
  promised: ChangeFilter,
  open: () => Promise<Changes | Refusal>,
  signal: AbortSignal,
  firstMs = FIRST_MS,
): Changes {
  const closing = new AbortController();
  const over = AbortSignal.any([signal, closing.signal]);
  let current = first;
  async function* notifications(): AsyncGenerator<JsonObject, void> {
    for (let waitMs = firstMs; ; waitMs = Math.min(waitMs * 2, MAX_MS)) {
      if (current !== null) {
        const since = performance.now();
        yield* current.notifications;
        current.close();
        current = null;
        if (performance.now() - since > MAX_MS) waitMs = firstMs;
      }
      await passed(waitMs, over);
      if (over.aborted) return;
      // Opening may also need the database, which may be unavailable as well.
      const opened = await open().catch(() => null);
      if (opened === null || isRefusal(opened)) continue;
      current = opened;
      if (over.aborted) return opened.close();
      yield* changeNotifications(promised);
    }
  }
  return {
    honoured: promised,
    notifications: notifications(),
    close() {
      closing.abort();
      current?.close();
    },
  };
}

function passed(ms: number, over: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      over.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    over.addEventListener("abort", done, { once: true });
    if (over.aborted) done();
  });
}
