import type { Dispatch } from "../../services/models/dispatch.ts";
import { invalidRequest } from "../../road/invalid-request.ts";
import type { Surface } from "../../road/surface.ts";
import { InboundView } from "../../road/view.ts";
import { readImagesRequest } from "../../wire/images/images-request.ts";
import { llmRefusals } from "./refusals.ts";

/** POST /images/generations, OpenAI's own shape (interface 4.2). */
export const imageGenerations = (models: Dispatch): Surface => ({
  ...llmRefusals,
  read(_call, body) {
    const inbound = readImagesRequest(body ?? new Uint8Array(0));
    if ("fields" in inbound) return invalidRequest(inbound.fields);
    return { view: new InboundView(inbound, ["image"]), answer: (call) => models.draw(call, inbound) };
  },
});
