import { plausibleUsage, estimateTokens, inputTokens, hasNoCounts, type Usage } from "../../wire/usage.ts";
import type { VendorFees } from "../../wire/vendor-tools.ts";
import { withRequestedServing } from "../../wire/serving.ts";
import type { StreamAnswer } from "../answer.ts";

export function estimated(inputCharacters: number, outputCharacters: number): Usage {
  return {
    inputUncached: estimateTokens(inputCharacters),
    cacheRead: 0,
    cacheWrite: 0,
    cacheWriteHour: 0,
    output: estimateTokens(outputCharacters),
    reasoning: 0,
    estimated: true,
  };
}

/**
 * The usage of an answer: the provider's figures if plausible, else an estimate from the text, with the fees that the answer shows. Servers
 * that do not count report zero tokens, which would make a call with text free.
 */
export function meteredUsage(reported: Usage | null, inputCharacters: number, outputCharacters: number, fees: VendorFees = {}): Usage {
  const counted = estimated(inputCharacters, outputCharacters);
  const usage = plausibleUsage(reported);
  if (usage === null) return { ...counted, ...fees };
  if (isMeteredByMedia(usage)) return usage;
  const unreadInput = inputTokens(usage) === 0 && counted.inputUncached > 0;
  const unreadOutput = usage.output === 0 && counted.output > 0;
  if (!unreadInput && !unreadOutput) return usage;
  return {
    ...usage,
    ...(unreadInput && { inputUncached: counted.inputUncached }),
    ...(unreadOutput && { output: counted.output }),
    estimated: true,
  };
}

/** Images, audio and video are billed by their own units if no tokens are reported. */
function isMeteredByMedia({ images, spokenCharacters, audioSeconds, videoSeconds }: Usage): boolean {
  return images !== undefined || spokenCharacters !== undefined || audioSeconds !== undefined || videoSeconds !== undefined;
}

/** The usage of a stream up to where it ended; null for a stream no model produced. */
export function streamUsage({ codec, inputCharacters, requestedTier, usageOfSending }: StreamAnswer): Usage | null {
  if (inputCharacters === null) return plausibleUsage(codec.usage);
  const usage = meteredUsage(codec.usage, inputCharacters, codec.outputLength, codec.fees);
  const gaveNothing = !codec.begun && codec.providerError === null && hasNoCounts(usage);
  // The tier reported at the start of the answer applies even if the answer never got to its usage.
  const served = withRequestedServing((gaveNothing ? usageOfSending?.() : null) ?? usage, codec.served);
  return withRequestedServing(served, requestedTier);
}
