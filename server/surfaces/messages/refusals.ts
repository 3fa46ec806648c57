import type { Surface } from "../../road/surface.ts";
import { ERRORS, type Refusal } from "../../kernel/errors.ts";
import { errorTypeOf } from "../../wire/messages/fault.ts";
import { messageOf } from "../llm/refusals.ts";

const encoder = new TextEncoder();
const OVERLOADED = 529;

/** Errors in the format of the native messages API: `{type: "error", error: {type, message}, request_id}`. */
export const messagesRefusals: Pick<Surface, "refusal" | "streamError"> = {
  refusal: (refusal, call) => ({
    headers: { "content-type": "application/json", ...(call === null ? {} : { "request-id": call.id }) },
    body: JSON.stringify(envelope(refusal, call?.id ?? null)),
    // The vendor's own status, which some of its clients handle better than the type.
    ...(refusal.upstreamStatus === OVERLOADED ? { status: OVERLOADED } : {}),
  }),
  streamError: (refusal, call) => encoder.encode(`event: error\ndata: ${JSON.stringify(envelope(refusal, call.id))}\n\n`),
};

/** The vendor's own error, on which its clients resend the whole conversation. */
const NO_THREAD = { error_code: "thread_unsupported_request", unsupported: ["thread"] };

function unthreadable({ code, fields }: Refusal): boolean {
  return code === "unsupported_parameter" && fields?.some(({ field }) => field === "thread") === true;
}

function envelope(refusal: Refusal, requestId: string | null) {
  // By the interface this is an invalid request, which clients never retry.
  const type = refusal.code === "guardrail_blocked" ? "invalid_request_error" : errorTypeOf(ERRORS[refusal.code].status);
  return {
    type: "error",
    error: {
      type,
      message: messageOf(refusal),
      code: refusal.code,
      ...refusal.extra,
      ...(unthreadable(refusal) ? { details: NO_THREAD } : {}),
    },
    ...(requestId === null ? {} : { request_id: requestId }),
  };
}
