import type { Surface } from "../../road/surface.ts";
import { ERRORS, type Refusal } from "../../kernel/errors.ts";
import { retryDetails, rpcStatusOf } from "../../wire/gemini/fault.ts";
import { messageOf } from "../llm/refusals.ts";

const encoder = new TextEncoder();

/** Errors in Google's envelope: `{error: {code, message, status, details}}`. */
export const geminiRefusals: Pick<Surface, "refusal" | "streamError"> = {
  refusal: (refusal) => ({ headers: { "content-type": "application/json" }, body: JSON.stringify(envelope(refusal)) }),
  streamError: (refusal) => encoder.encode(`data: ${JSON.stringify(envelope(refusal))}\n\n`),
};

/** An error as the last element of a stream that is one JSON array. */
export function arrayError(refusal: Refusal, begun: boolean): Uint8Array {
  return encoder.encode(`${begun ? "," : "["}\n${JSON.stringify(envelope(refusal))}]`);
}

function envelope(refusal: Refusal) {
  const { status } = ERRORS[refusal.code];
  const details = [{ code: refusal.code, ...refusal.extra }, ...retryDetails(refusal.headers?.["retry-after"])];
  return { error: { code: status, message: messageOf(refusal), status: rpcStatusOf(status), details } };
}
