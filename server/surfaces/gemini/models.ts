import { usableModel, usableModels, type UsableModel } from "../../governance/access/models-list.ts";
import { jsonAnswer, type Surface } from "../../governance/surface.ts";
import { EMPTY_VIEW } from "../../governance/view.ts";
import { refuse } from "../../kernel/errors.ts";
import { decodedSegment } from "../../kernel/request-path.ts";
import { geminiRefusals } from "./refusals.ts";

/** GET /v1beta/models: what the caller may use, in Google's list shape. */
export const geminiModels: Surface = {
  ...geminiRefusals,
  read: () => ({ view: EMPTY_VIEW, answer: async (call) => jsonAnswer({ models: call.scope === null ? [] : usableModels(call.scope).map(item) }) }),
};

/** GET /v1beta/models/{model}. */
export const geminiModel: Surface = {
  ...geminiRefusals,
  read: () => ({
    view: EMPTY_VIEW,
    async answer(call) {
      const asked = decodedSegment(call.path.slice(call.path.indexOf("/models/") + "/models/".length));
      const model = call.scope === null ? null : usableModel(call.scope, asked);
      return model === null ? refuse("model_not_found", `There is no model ${JSON.stringify(asked)}.`) : jsonAnswer(item(model));
    },
  }),
};

function item(model: UsableModel) {
  return {
    name: `models/${model.name}`,
    displayName: model.name,
    ...(model.contextWindow === null ? {} : { inputTokenLimit: model.contextWindow }),
    ...(model.maxOutputTokens === null ? {} : { outputTokenLimit: model.maxOutputTokens }),
    supportedGenerationMethods: model.modes.includes("embedding") ? [] : ["generateContent", "countTokens"],
  };
}
