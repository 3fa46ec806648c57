import { cancelQuietly } from "../kernel/http/cancel-quietly.ts";
import type { StreamAnswer } from "./answer.ts";

/** How long an upstream that has said its last word may take to end its body. */
const CLOSING_MS = 1_000;

/** Reads a body to its end so that the connection can be used again; closes one that stays open. */
export async function drainBody(reader: StreamAnswer["upstream"]): Promise<void> {
  const timer = setTimeout(() => void cancelQuietly(reader), CLOSING_MS);
  try {
    while (!(await reader.read()).done);
  } catch {
    // Its answer was whole before it broke off.
  } finally {
    clearTimeout(timer);
  }
}
