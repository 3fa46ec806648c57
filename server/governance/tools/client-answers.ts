import type { JsonObject } from "../../wire/document.ts";
import type { ToolMemory } from "./tool-parts.ts";

/** Someone waits for what a caller answers to a request that went out on its stream. */
export type ClientAnswer = (answer: JsonObject) => void;

const WAIT_MS = 600_000;

const keyOf = (session: string, id: string) => `${session}\n${id}`;

/** The caller's answer to a request of this id in this session; null when none comes. */
export function clientAnswer(memory: ToolMemory, session: string, id: string, signal: AbortSignal): Promise<JsonObject | null> {
  const key = keyOf(session, id);
  return new Promise((resolve) => {
    const done = (answer: JsonObject | null) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", gone);
      memory.clientAnswers.delete(key);
      resolve(answer);
    };
    const gone = () => done(null);
    const timer = setTimeout(gone, WAIT_MS);
    signal.addEventListener("abort", gone, { once: true });
    memory.clientAnswers.set(key, done);
    if (signal.aborted) gone();
  });
}

/** Hands an answer to who waits for it; false when nobody does. */
export function takeClientAnswer(memory: ToolMemory, session: string, id: string, answer: JsonObject): boolean {
  const waiting = memory.clientAnswers.get(keyOf(session, id));
  waiting?.(answer);
  return waiting !== undefined;
}
