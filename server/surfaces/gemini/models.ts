import { usableModels } from "../../controls/access/models-list.ts";
import type { UsableModel } from "../../controls/access/usable-model.ts";
import { EMPTY_VIEW } from "../../road/request/empty-view.ts";
import type { Surface } from "../../road/surface.ts";
import { jsonAnswer } from "../../road/answer.ts";
import { modelDetailOf } from "../model-detail.ts";
import { geminiRefusals } from "./refusals.ts";

/** The methods that this surface offers for a model, by its modes. */
const METHODS = [
  { modes: ["chat", "responses"], methods: ["generateContent", "streamGenerateContent", "countTokens"] },
  { modes: ["embedding"], methods: ["embedContent", "batchEmbedContents"] },
] as const;

/** GET /v1beta/models: the models the caller may use, in Google's list format. */
export const geminiModels: Surface = {
  ...geminiRefusals,
  read: () => ({
    view: EMPTY_VIEW,
    answer: async (call) => jsonAnswer({ models: call.scope === null ? [] : usableModels(call.scope).map(item) }),
  }),
};

/** GET /v1beta/models/{model}. */
export const geminiModel = modelDetailOf(geminiRefusals, item);

function item(model: UsableModel) {
  return {
    name: `models/${model.name}`,
    displayName: model.name,
    ...(model.contextWindow === null ? {} : { inputTokenLimit: model.contextWindow }),
    ...(model.maxOutputTokens === null ? {} : { outputTokenLimit: model.maxOutputTokens }),
    supportedGenerationMethods: METHODS.flatMap(({ modes, methods }) => (modes.some((mode) => model.modes.includes(mode)) ? methods : [])),
  };
}
