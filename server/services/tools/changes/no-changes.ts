import type { ChangeFilter } from "../../../wire/mcp/changes.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";
import type { Call } from "../../../road/call.ts";

/** The change notifications of one server, independent of its dialect. */
export interface Changes {
  /** The part of the requested filter that the server grants. */
  readonly honoured: ChangeFilter;
  readonly notifications: AsyncGenerator<JsonObject, void>;
  close(): void;
}

export const NO_CHANGES: ChangeFilter = { tools: false, prompts: false, resources: false, uris: [], logs: false };

/** For a server without notifications. */
export function noChanges(call: Call): Changes {
  let close: () => void = () => undefined;
  const over = new Promise<void>((resolve) => {
    close = resolve;
    if (call.abort.signal.aborted) resolve();
    else call.abort.signal.addEventListener("abort", () => resolve(), { once: true });
  });
  // oxlint-disable-next-line require-yield -- it never yields anything
  async function* nothing(): AsyncGenerator<JsonObject, void> {
    await over;
  }
  return { honoured: NO_CHANGES, notifications: nothing(), close };
}
