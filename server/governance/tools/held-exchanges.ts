import { uuid } from "../../kernel/ids.ts";
import type { Asked } from "./ask-server.ts";
import type { ToolMemory } from "./tool-parts.ts";
import type { JsonValue } from "../../wire/document.ts";

/** An exchange with a handshake server that waits for input, while its stateless caller is asked for it. */
export interface HeldExchange {
  readonly asked: Asked;
  /** Id of the server's own request. */
  readonly requestId: JsonValue;
  readonly timer: ReturnType<typeof setTimeout>;
}

const HELD_MS = 300_000;
const MOST_HELD = 1_000;

/** Null when too many are held already. */
export function hold(memory: ToolMemory, asked: Asked, requestId: JsonValue): string | null {
  if (memory.held.size >= MOST_HELD) return null;
  const id = uuid();
  asked.detach();
  const timer = setTimeout(() => {
    memory.held.delete(id);
    asked.end();
  }, HELD_MS);
  timer.unref?.();
  memory.held.set(id, { asked, requestId, timer });
  return id;
}

/** Gives a held exchange out, once; null when this process does not hold it (any more). */
export function release(memory: ToolMemory, id: string): HeldExchange | null {
  const held = memory.held.get(id);
  if (held === undefined) return null;
  memory.held.delete(id);
  clearTimeout(held.timer);
  return held;
}
