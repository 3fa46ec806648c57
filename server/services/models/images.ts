import { type Refusal, isRefusal, refuse } from "../../kernel/errors.ts";
import { usdFromMicros } from "../../kernel/money.ts";
import { arrivalOf } from "../../road/call.ts";
import { costAt } from "../../road/metering/cost.ts";
import { readImagesReply } from "../../wire/images/images-reply.ts";
import type { ImagesRequest } from "../../wire/images/images-request.ts";
import { plausibleUsage } from "../../wire/usage.ts";
import type { ModelEntry } from "../../directory/snapshot.ts";
import { type AttemptParts, providerOf } from "./attempt.ts";
import type { ModelRequest } from "./model-request.ts";
import { passedWhole } from "./passed-whole.ts";

/** Pictures drawn by a model of a provider that speaks OpenAI's API. */
export function imagesModelRequest(request: ImagesRequest, providers: AttemptParts["providers"]): ModelRequest {
  return {
    inputCharacters: request.inputCharacters,
    prepare(call, model) {
      const provider = providerOf(providers, model);
      if (isRefusal(provider)) return provider;
      const refusal = qualityRefusal(request, model);
      if (refusal !== null) return refusal;
      return passedWhole(provider, model, "images", request.outbound({ model: model.modelName }), (bytes) => {
        const reply = readImagesReply(bytes);
        if (reply === null) return null;
        const usage = plausibleUsage(reply.usage) ?? onlyCounted(reply.usage.images ?? 0);
        const cost = costAt(model.priceSchedule, usage, arrivalOf(call));
        const told = { ...reply.body, gw_cost_usd: cost === null ? null : usdFromMicros(cost.micros), gw_model_id: model.id };
        return { body: new TextEncoder().encode(JSON.stringify(told)), usage, outputCharacters: 0 };
      });
    },
  };
}

function onlyCounted(images: number) {
  return { inputUncached: 0, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0, output: 0, reasoning: 0, images, estimated: true };
}

function qualityRefusal({ quality }: ImagesRequest, { supportedImageQualities = [] }: ModelEntry): Refusal | null {
  if (quality === null || supportedImageQualities.length === 0 || supportedImageQualities.includes(quality)) return null;
  return refuse("unsupported_parameter", undefined, {
    fields: [{ field: "quality", message: `must be one of ${supportedImageQualities.join(", ")} for this model` }],
  });
}
