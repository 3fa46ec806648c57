import { cancelQuietly } from "../../kernel/http/cancel-quietly.ts";
import type { StreamAnswer } from "../answer.ts";

/** How long an upstream may take to close its body after the end of its answer. */
const CLOSING_MS = 1_000;

/** Reads a body to its end so that the connection can be reused; cancels a body that stays open. */
export async function drainBody(reader: StreamAnswer["upstream"]): Promise<void> {
  const timer = setTimeout(() => void cancelQuietly(reader), CLOSING_MS);
  try {
    while (!(await reader.read()).done);
  } catch {
    // The answer was complete before the connection failed.
  } finally {
    clearTimeout(timer);
  }
}
