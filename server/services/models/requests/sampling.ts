import type { ConversationRequest, Feature } from "../../../wire/conversation/request.ts";
import type { OutboundChanges } from "../../../wire/inbound.ts";
import { takesTemperatureWithTopP } from "../../../wire/messages/claude-sampling.ts";

export function withDefaults(
  request: ConversationRequest,
  stream: boolean,
  { model, defaultTemperature, defaultMaxTokens, systemPrompt }: OutboundChanges,
): ConversationRequest {
  // What the caller asked for does not give way to what nobody did.
  const leftToModel = request.topP === null || takesTemperatureWithTopP(model);
  return {
    ...request,
    // Where a format says it in the address, the body does not.
    stream,
    temperature: request.temperature ?? (leftToModel ? defaultTemperature : null),
    maxOutputTokens: request.maxOutputTokens ?? defaultMaxTokens,
    instructions: systemPrompt === null ? request.instructions : [{ kind: "text", text: systemPrompt }, ...request.instructions],
  };
}

/** The sampling settings of the caller that are not sent to the model. Leaving out a default of 1 is no loss. */
export function droppedSampling(before: ConversationRequest, after: ConversationRequest): Feature[] {
  const lost: Feature[] = [];
  if (before.temperature !== after.temperature && before.temperature !== 1) lost.push("temperature");
  if (before.topP !== after.topP && before.topP !== 1) lost.push("top_p");
  if (before.topK !== after.topK) lost.push("top_k");
  return lost;
}
