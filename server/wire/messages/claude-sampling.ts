import type { ConversationRequest } from "../conversation/request.ts";
import { claudeVersion } from "./claude-thinking.ts";
import { sampledOtherwise } from "./thinking-limits.ts";

export type SamplingFeature = "temperature" | "top_p" | "top_k";

export interface ClaudeSampling {
  /** What the model is not told. */
  readonly unsent: ReadonlySet<SamplingFeature>;
  /** What of it asked for something else than the model does by itself. */
  readonly dropped: readonly SamplingFeature[];
}

/** Which of the caller's wishes for sampling a Claude would refuse. `fixed`: while it thinks. */
export function claudeSampling(request: ConversationRequest, name: string, fixed: boolean): ClaudeSampling {
  const dropped = fixed ? sampledOtherwise(request) : [];
  const unsent = new Set<SamplingFeature>(dropped);
  const { temperature, topP } = request;
  const both = temperature !== null && topP !== null && !unsent.has("temperature") && !unsent.has("top_p");
  if (!both || takesTemperatureWithTopP(name)) return { unsent, dropped };
  // Of two that are told together, one is often the default, which many clients send unasked.
  if (topP !== 1 && temperature === 1) return { unsent: unsent.add("temperature"), dropped };
  return { unsent: unsent.add("top_p"), dropped: topP === 1 ? dropped : [...dropped, "top_p"] };
}

/** Since 4.1 a Claude refuses a request with both; whose models other servers of this format have is not known. */
export function takesTemperatureWithTopP(name: string): boolean {
  if (!name.includes("claude")) return true;
  const version = claudeVersion(name);
  return version !== null && (version.major < 4 || (version.major === 4 && version.minor < 1));
}
