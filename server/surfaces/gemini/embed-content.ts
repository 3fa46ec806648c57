import type { Dispatch } from "../../services/models/dispatch.ts";
import { invalidRequest } from "../../road/request/invalid-request.ts";
import type { Surface } from "../../road/surface.ts";
import { InboundView } from "../../road/view.ts";
import { readGeminiEmbeddingsRequest } from "../../wire/gemini/embed-request.ts";
import { modelOfPath } from "./model-path.ts";
import { geminiRefusals } from "./refusals.ts";

/** POST /v1beta/models/{model}:embedContent. */
export const embedContent = (models: Dispatch): Surface => embedding(models, true);

/** POST /v1beta/models/{model}:batchEmbedContents. */
export const batchEmbedContents = (models: Dispatch): Surface => embedding(models, false);

const embedding = (models: Dispatch, single: boolean): Surface => ({
  ...geminiRefusals,
  read({ path }, body) {
    const inbound = readGeminiEmbeddingsRequest(body ?? new Uint8Array(0), modelOfPath(path), single);
    if ("fields" in inbound) return invalidRequest(inbound.fields);
    return { view: new InboundView(inbound, ["embedding"]), answer: (call) => models.embed(call, inbound) };
  },
});
