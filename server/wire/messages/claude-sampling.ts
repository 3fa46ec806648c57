import type { ConversationRequest } from "../conversation/request.ts";
import { claudeVersion } from "./claude-thinking.ts";
import { sampledOtherwise } from "./thinking-limits.ts";

export type SamplingFeature = "temperature" | "top_p" | "top_k";

export interface ClaudeSampling {
  /** Settings that are not sent. */
  readonly unsent: ReadonlySet<SamplingFeature>;
  /** The unsent settings that differ from the model's default. */
  readonly dropped: readonly SamplingFeature[];
}

/** The sampling settings that Claude would refuse. `fixed`: sampling must stay at its defaults, because the model thinks. */
export function claudeSampling(request: ConversationRequest, name: string, fixed: boolean): ClaudeSampling {
  const dropped = fixed ? sampledOtherwise(request) : [];
  const unsent = new Set<SamplingFeature>(dropped);
  const { temperature, topP } = request;
  const both = temperature !== null && topP !== null && !unsent.has("temperature") && !unsent.has("top_p");
  if (!both || takesTemperatureWithTopP(name)) return { unsent, dropped };
  // Of the two, one is often the default, which many clients send unasked.
  if (topP !== 1 && temperature === 1) return { unsent: unsent.add("temperature"), dropped };
  return { unsent: unsent.add("top_p"), dropped: topP === 1 ? dropped : [...dropped, "top_p"] };
}

/** Claude models since 4.1 refuse both together. Other models served in this format are assumed to accept them. */
export function takesTemperatureWithTopP(name: string): boolean {
  if (!name.includes("claude")) return true;
  const version = claudeVersion(name);
  return version !== null && (version.major < 4 || (version.major === 4 && version.minor < 1));
}
