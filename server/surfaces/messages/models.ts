import { usableModels } from "../../controls/access/models-list.ts";
import type { UsableModel } from "../../controls/access/usable-model.ts";
import { EMPTY_VIEW } from "../../road/request/empty-view.ts";
import type { Surface } from "../../road/surface.ts";
import { jsonAnswer } from "../../road/answer.ts";
import { modelDetailOf } from "../model-detail.ts";
import { messagesRefusals } from "./refusals.ts";

/** GET /v1/models: the models the caller may use, in Anthropic's list format, as a single page. */
export const messagesModels: Surface = {
  ...messagesRefusals,
  read: () => ({
    view: EMPTY_VIEW,
    async answer(call) {
      const data = call.scope === null ? [] : usableModels(call.scope).map(item);
      return jsonAnswer({ data, has_more: false, first_id: data.at(0)?.id ?? null, last_id: data.at(-1)?.id ?? null });
    },
  }),
};

/** GET /v1/models/{model}. */
export const messagesModel = modelDetailOf(messagesRefusals, item);

function item(model: UsableModel) {
  return {
    type: "model",
    id: model.name,
    display_name: model.name,
    created_at: new Date(model.createdSeconds * 1000).toISOString(),
    max_input_tokens: model.contextWindow,
    max_tokens: model.maxOutputTokens,
    capabilities: null,
    line: null,
    lifecycle: "active",
    deprecated_at: null,
    retires_at: null,
  };
}
