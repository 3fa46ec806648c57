import { usableModel } from "../controls/access/models-list.ts";
import type { UsableModel } from "../controls/access/usable-model.ts";
import { EMPTY_VIEW } from "../road/request/empty-view.ts";
import type { Surface } from "../road/surface.ts";
import { jsonAnswer } from "../road/answer.ts";
import { refuse } from "../kernel/errors.ts";
import { decodedSegment } from "../kernel/http/request-path.ts";

/** GET .../models/{model}: a model the caller may use, by gateway ID or name, in the protocol's format. */
export function modelDetailOf(refusals: Pick<Surface, "refusal" | "streamError">, shown: (model: UsableModel) => object): Surface {
  return {
    ...refusals,
    read: () => ({
      view: EMPTY_VIEW,
      async answer(call) {
        const requestedName = decodedSegment(call.path.slice(call.path.indexOf("/models/") + "/models/".length));
        const model = call.scope === null ? null : usableModel(call.scope, requestedName);
        return model === null ? refuse("model_not_found", `There is no model ${JSON.stringify(requestedName)}.`) : jsonAnswer(shown(model));
      },
    }),
  };
}
