import { usableModels } from "../../controls/access/models-list.ts";
import type { UsableModel } from "../../controls/access/usable-model.ts";
import { EMPTY_VIEW } from "../../road/request/empty-view.ts";
import type { Surface } from "../../road/surface.ts";
import { jsonAnswer } from "../../road/answer.ts";
import { modelDetailOf } from "../model-detail.ts";
import { llmRefusals } from "./refusals.ts";

/** GET /models: the models available to the caller's resource group, in OpenAI's list format. */
export const modelsList: Surface = {
  ...llmRefusals,
  read: () => ({
    view: EMPTY_VIEW,
    answer: async (call) => jsonAnswer({ object: "list", data: call.scope === null ? [] : usableModels(call.scope).map(item) }),
  }),
};

/** GET /models/{model_id}; clients of the compatible surface use the model's name. */
export const modelDetail = modelDetailOf(llmRefusals, item);

function item(model: UsableModel) {
  return {
    id: model.name,
    object: "model",
    created: model.createdSeconds,
    owned_by: model.ownedBy,
    gw_model_id: model.id,
    mode: model.mode,
    modes: model.modes,
    context_window: model.contextWindow,
    max_output_tokens: model.maxOutputTokens,
  };
}
