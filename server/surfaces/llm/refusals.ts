import type { Surface } from "../../road/surface.ts";
import { ERRORS, type Refusal } from "../../kernel/errors.ts";
import { errorType } from "../../wire/openai/fault.ts";

const encoder = new TextEncoder();

/** Runtime errors of the compatible surface: `{error: <message>, code, type}` with the HTTP status (interface 7). */
export const llmRefusals: Pick<Surface, "refusal" | "streamError"> = {
  refusal: (refusal) => ({ headers: { "content-type": "application/json" }, body: JSON.stringify(bodyOf(refusal)) }),
  // Inside a stream, the official clients raise `error` if it is an object.
  streamError: (refusal) => encoder.encode(`data: ${JSON.stringify({ error: streamedError(refusal) })}\n\n`),
};

/** The same, with the error event of the Responses stream: flat, as its reference has it, and nested, as official clients raise it. */
export const responsesRefusals: Pick<Surface, "refusal" | "streamError"> = {
  refusal: llmRefusals.refusal,
  streamError: (refusal, _call, last) =>
    encoder.encode(
      `event: error\ndata: ${JSON.stringify({ type: "error", code: refusal.code, message: messageOf(refusal), param: null, sequence_number: nextNumber(last), error: streamedError(refusal), ...refusal.extra })}\n\n`,
    ),
};

function streamedError(refusal: Refusal): object {
  const { code } = refusal;
  if (isVerdict(refusal)) return { code, message: refusal.message, ...refusal.extra };
  return { message: messageOf(refusal), type: "gateway_error", param: null, code, ...refusal.extra };
}

/** The sequence number after that of the last event sent. */
function nextNumber(last: Uint8Array | null): number {
  const numbers = [...new TextDecoder().decode(last ?? new Uint8Array(0)).matchAll(/"sequence_number":\s*(\d+)/g)];
  return numbers.length === 0 ? 0 : Number(numbers.at(-1)?.[1]) + 1;
}

/** Rate limits, quotas and guardrails have their own shapes (interface 7.1 to 7.3). */
function bodyOf(refusal: Refusal): object {
  switch (refusal.code) {
    case "rate_limit_exceeded":
      return { error: { type: refusal.code, message: refusal.message, ...refusal.extra } };
    case "usage_limit_reached":
    case "run_ceiling_reached":
      return { error: refusal.message, ...refusal.extra };
    // In the vendor's own form, by which clients recognise the error.
    case "response_not_found":
    case "previous_response_not_found":
      return { error: { message: messageOf(refusal), type: "invalid_request_error", param: null, code: refusal.code, ...refusal.extra } };
    default:
      if (isVerdict(refusal)) return { error: streamedError(refusal) };
      return { error: messageOf(refusal), code: refusal.code, type: typeOf(refusal), ...refusal.extra };
  }
}

function typeOf({ code }: Refusal): string {
  return code === "upstream_overloaded" ? "overloaded_error" : errorType(ERRORS[code].status);
}

/** Whether a guardrail or policy judged a text: these have the same body whole and in a stream, with only the members of interface 7.3. */
function isVerdict({ code }: Refusal): boolean {
  return code === "guardrail_blocked" || code === "argument_policy_denied" || code === "semantic_policy_block";
}

/** The message, with every invalid field. */
export function messageOf(refusal: Refusal): string {
  if (refusal.fields === undefined || refusal.fields.length === 0) return refusal.message;
  // For untranslatable parameters the field's message is a clause of its own: "this model's provider gives one answer at a time".
  const between = refusal.code === "unsupported_parameter" ? ": " : " ";
  return `${refusal.message} ${refusal.fields.map(({ field, message }) => (field === "" ? `The body ${message}.` : `\`${field}\`${between}${message}.`)).join(" ")}`;
}
