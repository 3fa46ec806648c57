import type { ModelEntry } from "../../../directory/snapshot.ts";
import { usdFromMicros } from "../../../kernel/money.ts";
import { arrivalOf, type Call } from "../../../road/call.ts";
import { costAt } from "../../../road/metering/cost.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";
import { onlyPictures } from "../../../wire/images/images-reply.ts";
import type { PicturesRequest } from "../../../wire/images/pictures-request.ts";
import { plausibleUsage, type Usage } from "../../../wire/usage.ts";
import type { WholeAnswerReading } from "../requests/model-request.ts";

/** Adds the requested images to the usage, because image prices apply to them. */
export function pictureUsage({ pictures: { asked } }: PicturesRequest, usage: Usage): Usage {
  return asked === undefined ? usage : { ...usage, requestedImages: asked };
}

/** Usage in the format of OpenAI's image answers. */
export function pictureTokens(usage: Usage): JsonObject {
  const input = usage.inputUncached + usage.cacheRead;
  return {
    input_tokens: input,
    input_tokens_details: { text_tokens: input - (usage.imageInput ?? 0), image_tokens: usage.imageInput ?? 0 },
    output_tokens: usage.output,
    total_tokens: input + usage.output,
  };
}

/** The image answer with its cost and model. */
export function imageAnswer(call: Call, model: ModelEntry, body: JsonObject, used: Usage): WholeAnswerReading {
  const usage = plausibleUsage(used) ?? onlyPictures(used.images ?? 0);
  const cost = costAt(model.priceSchedule, usage, arrivalOf(call));
  const all = { ...body, gw_cost_usd: cost === null ? null : usdFromMicros(cost.micros), gw_model_id: model.id };
  return { body: new TextEncoder().encode(JSON.stringify(all)), usage, outputCharacters: 0 };
}
