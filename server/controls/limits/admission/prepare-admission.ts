import type { ModelEntry } from "../../../directory/snapshot.ts";
import { type Refusal, refuse } from "../../../kernel/errors.ts";
import { arrivalOf, type Call } from "../../../road/call.ts";
import { knowledgeBytes } from "../../../road/knowledge.ts";
import { governanceOf } from "../../../road/policy/parameter-governance.ts";
import { asksForText } from "../../../road/target.ts";
import type { RequestView } from "../../../road/view.ts";
import type { LimitedCall } from "../limited-call.ts";
import { unpricedRefusal } from "../limit-refusals.ts";
import type { CallPlan } from "../plans/plan.ts";
import {
  highestCost,
  demandOf,
  worstCaseOfVideo,
  worstCaseOfImages,
  worstCaseOfReranking,
  worstCaseOfAudio,
  worstCaseOfSpeech,
  type WorstCase,
  worstCaseWithoutOutput,
  worstCaseOf,
} from "../plans/worst-case.ts";

/**
 * Works out the most that a call can cost and what to hold for it. Returns a refusal if that cannot be bounded, or if
 * a hard budget applies and the model has no price.
 */
export function prepareAdmission(
  call: Call,
  view: RequestView,
  model: ModelEntry,
  plan: CallPlan,
  members: readonly CallPlan[],
): LimitedCall | Refusal {
  const any = (has: (one: CallPlan) => boolean) => has(plan) || members.some(has);
  const counting = /(?:count|input)_tokens$/.test(call.audit.proxySubtype);
  if (counting || !any(({ needsBound }) => needsBound))
    return {
      id: call.id,
      call,
      view,
      model,
      plan,
      worst: null,
      counted: null,
      outputTokens: 0,
      demand: { tokens: 0, micros: 0, toolCalls: 0 },
      ahead: null,
    };
  if (view.audio?.seconds === null) return refuse("audio_length_unknown");
  const rules = governanceOf(call, model);
  const writes = asksForText(view.target);
  const bounded = worstCaseOf(model, view, {
    at: arrivalOf(call),
    bodyBytes: view.audio?.textBytes ?? view.video?.textBytes ?? view.pictures?.shown?.textBytes ?? bytesOf(call) + (view.heardTokens ?? 0),
    addedBytes: writes ? rules.addedBytes + Buffer.byteLength(model.systemPrompt ?? "") + knowledgeBytes(call, view) : 0,
    outputCeiling: rules.maxOutputTokens,
  });
  const worst = writes ? bounded : ofMedia(model, view, bounded);
  if (any(({ needsPrice }) => needsPrice) && highestCost(model, worst) === null) return unpricedRefusal(model, unpricedPart(model, worst));
  return {
    id: call.id,
    call,
    view,
    model,
    plan,
    worst,
    counted: null,
    outputTokens: worst.outputTokens,
    demand: demandOf(model, worst, worst.outputTokens),
    ahead: null,
  };
}

/** Names what makes a call without a maximum cost unpriced; undefined: its tokens. */
function unpricedPart(model: ModelEntry, worst: WorstCase): string | undefined {
  if (highestCost(model, { ...worst, searches: 0, tools: {} }) === null) return undefined;
  return highestCost(model, { ...worst, tools: {} }) === null ? "a search" : "the vendor's own tools";
}

/** Bytes received plus those added by the gateway. */
function bytesOf({ row, putInBytes = 0 }: Call): number {
  return ((row.request_size_bytes as number | undefined) ?? 0) + putInBytes;
}

function ofMedia(
  model: ModelEntry,
  { video, pictures, audio, reranking, spokenCharacters = 0 }: RequestView,
  bounded: WorstCase,
): WorstCase {
  if (video !== undefined) return worstCaseOfVideo(model, bounded, video);
  if (pictures !== undefined) return worstCaseOfImages(model, bounded, pictures);
  if (audio?.seconds != null) return worstCaseOfAudio(bounded, audio.seconds);
  if (reranking !== undefined) return worstCaseOfReranking(bounded, reranking);
  return spokenCharacters > 0 ? worstCaseOfSpeech(model, bounded, spokenCharacters) : worstCaseWithoutOutput(bounded);
}
