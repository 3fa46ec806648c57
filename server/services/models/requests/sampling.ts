import type { ConversationRequest, Feature } from "../../../wire/conversation/request.ts";
import type { OutboundChanges } from "../../../wire/inbound.ts";
import { takesTemperatureWithTopP } from "../../../wire/messages/claude-sampling.ts";

export function withDefaults(
  request: ConversationRequest,
  stream: boolean,
  { model, defaultTemperature, defaultMaxTokens, systemPrompt }: OutboundChanges,
): ConversationRequest {
  // An explicit top_p wins over a default temperature, for models that do not take both.
  const leftToModel = request.topP === null || takesTemperatureWithTopP(model);
  return {
    ...request,
    // Some formats request a stream by the URL, not in the body.
    stream,
    temperature: request.temperature ?? (leftToModel ? defaultTemperature : null),
    maxOutputTokens: request.maxOutputTokens ?? defaultMaxTokens,
    instructions: systemPrompt === null ? request.instructions : [{ kind: "text", text: systemPrompt }, ...request.instructions],
  };
}

/** The caller's sampling settings that are not sent to the model. Omitting a value of 1, the default, does not count. */
export function droppedSampling(before: ConversationRequest, after: ConversationRequest): Feature[] {
  const lost: Feature[] = [];
  if (before.temperature !== after.temperature && before.temperature !== 1) lost.push("temperature");
  if (before.topP !== after.topP && before.topP !== 1) lost.push("top_p");
  if (before.topK !== after.topK) lost.push("top_k");
  return lost;
}
