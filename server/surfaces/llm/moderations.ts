import type { Dispatch } from "../../services/models/dispatch.ts";
import { invalidRequest } from "../../road/request/invalid-request.ts";
import type { Surface } from "../../road/surface.ts";
import { InboundView } from "../../road/view.ts";
import { readModerationsRequest } from "../../wire/moderations/moderations-request.ts";
import { llmRefusals } from "./refusals.ts";

/** POST /moderations, OpenAI's own shape. */
export const moderations = (models: Dispatch): Surface => ({
  ...llmRefusals,
  read(_call, body) {
    const inbound = readModerationsRequest(body ?? new Uint8Array(0));
    if ("fields" in inbound) return invalidRequest(inbound.fields);
    return { view: new InboundView(inbound, ["moderation"]), answer: (call) => models.moderate(call, inbound) };
  },
});
