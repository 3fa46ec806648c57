import { type UsableModel, usableModel, usableModels } from "../../governance/access/models-list.ts";
import type { Call } from "../../governance/call.ts";
import { jsonAnswer, type Surface } from "../../governance/surface.ts";
import { EMPTY_VIEW } from "../../governance/view.ts";
import { refuse } from "../../kernel/errors.ts";
import { decodedSegment } from "../../kernel/request-path.ts";
import { llmRefusals } from "./refusals.ts";

/** GET /models: what the caller's resource group may use, in OpenAI's list shape. */
export const modelsList: Surface = {
  ...llmRefusals,
  read: () => ({ view: EMPTY_VIEW, answer: async (call) => jsonAnswer({ object: "list", data: modelsOf(call).map(item) }) }),
};

/** GET /models/{model_id}: one of them, by gateway id; the clients of the compatible surface ask by name. */
export const modelDetail: Surface = {
  ...llmRefusals,
  read: () => ({
    view: EMPTY_VIEW,
    async answer(call) {
      const asked = decodedSegment(call.path.slice(call.path.indexOf("/models/") + "/models/".length));
      const model = call.scope === null ? null : usableModel(call.scope, asked);
      return model === null ? refuse("model_not_found", `There is no model ${JSON.stringify(asked)}.`) : jsonAnswer(item(model));
    },
  }),
};

function modelsOf(call: Call): UsableModel[] {
  return call.scope === null ? [] : usableModels(call.scope);
}

function item(model: UsableModel) {
  return {
    id: model.name,
    object: "model",
    created: model.createdSeconds,
    owned_by: model.ownedBy,
    gw_model_id: model.id,
    mode: model.modes[0] ?? null,
    modes: model.modes,
    context_window: model.contextWindow,
    max_output_tokens: model.maxOutputTokens,
  };
}
