import type { ModelEntry } from "../../directory/snapshot.ts";
import { type Refusal, refuse } from "../../kernel/errors.ts";
import { arrivalOf, type Call } from "../../road/call.ts";
import { knowledgeBytes } from "../../road/knowledge.ts";
import { governanceOf } from "../../road/parameter-governance.ts";
import { asksForWriting } from "../../road/target.ts";
import type { RequestView } from "../../road/view.ts";
import type { LimitedCall } from "./limited-call.ts";
import { unpricedRefusal } from "./limit-refusals.ts";
import type { CallPlan } from "./plan.ts";
import {
  dearest,
  demandOf,
  ofFilm,
  ofPictures,
  ofReranking,
  ofSound,
  ofSpeech,
  type WorstCase,
  withoutOutput,
  worstCaseOf,
} from "./worst-case.ts";

/** A call as it comes to the gate: what it may come to at most, and what is held for it. A refusal where that has no price. */
export function arrive(
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
  if (view.sound?.seconds === null) return refuse("audio_length_unknown");
  const rules = governanceOf(call, model);
  const writes = asksForWriting(view.target);
  const bounded = worstCaseOf(model, view, {
    at: arrivalOf(call),
    bodyBytes: view.sound?.textBytes ?? view.film?.textBytes ?? view.pictures?.shown?.textBytes ?? bytesOf(call),
    addedBytes: writes ? rules.addedBytes + Buffer.byteLength(model.systemPrompt ?? "") + knowledgeBytes(call, view) : 0,
    outputCeiling: rules.maxOutputTokens,
  });
  const worst = writes ? bounded : ofMedia(model, view, bounded);
  if (any(({ needsPrice }) => needsPrice) && dearest(model, worst) === null) return unpricedRefusal(model, unpricedPart(model, worst));
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

/** What of a call that is too dear to tell has no price; undefined: its tokens. */
function unpricedPart(model: ModelEntry, worst: WorstCase): string | undefined {
  if (dearest(model, { ...worst, searches: 0, tools: {} }) === null) return undefined;
  return dearest(model, { ...worst, tools: {} }) === null ? "a search" : "the vendor's own tools";
}

/** What came, with what the gateway put into it. */
function bytesOf({ row, putInBytes = 0 }: Call): number {
  return ((row.request_size_bytes as number | undefined) ?? 0) + putInBytes;
}

function ofMedia(
  model: ModelEntry,
  { film, pictures, sound, reranking, spokenCharacters = 0 }: RequestView,
  bounded: WorstCase,
): WorstCase {
  if (film !== undefined) return ofFilm(model, bounded, film);
  if (pictures !== undefined) return ofPictures(model, bounded, pictures);
  if (sound?.seconds != null) return ofSound(bounded, sound.seconds);
  if (reranking !== undefined) return ofReranking(bounded, reranking);
  return spokenCharacters > 0 ? ofSpeech(model, bounded, spokenCharacters) : withoutOutput(bounded);
}
