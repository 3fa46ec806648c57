import type { BatchJob } from "../../directory/batch/batch-store.ts";
import type { Call } from "../../road/call.ts";
import { routeOf } from "../../road/target.ts";
import type { ProviderOperation } from "../../wire/operation.ts";
import type { LinesOfJob } from "./batch-service.ts";
import type { ProviderRunsParts } from "./provider-runs.ts";

/** Operations that conversations are translated to at providers without OpenAI's formats. */
const TRANSLATED: readonly ProviderOperation[] = ["messages", "gemini", "converse"];
const OPERATIONS: Readonly<Record<string, readonly ProviderOperation[]>> = {
  "/v1/chat/completions": ["chat", ...TRANSLATED],
  "/v1/responses": ["responses", ...TRANSLATED],
  "/v1/completions": ["completions", ...TRANSLATED],
  "/v1/messages": ["chat", "responses", ...TRANSLATED],
  "/v1/embeddings": ["embeddings", "gemini_embed"],
  "/v1/moderations": ["moderations"],
};

/**
 * Decides whether a job runs in a provider's batch: when the provider supports it for the endpoint, all lines use one model of it, and an
 * administrator enabled it.
 */
export function modeAmong(batches: ProviderRunsParts["batches"]): (call: Call, endpoint: string, has: LinesOfJob) => BatchJob["mode"] {
  return (call, endpoint, has) => {
    const route = routeOf(call);
    const model = route?.group === null ? route.members[0]?.model : undefined;
    if (model === undefined || model.provider.runsBatches !== true) return "gateway";
    const vendor = batches[model.provider.apiFormat];
    if (vendor === undefined || has.lines < (vendor.leastLines ?? 1) || (has.tools && vendor.withoutTools === true)) return "gateway";
    if (has.vendorHeaders && vendor.operations.has("messages") && vendor.takesHeaders !== true) return "gateway";
    return (OPERATIONS[endpoint] ?? []).some((operation) => vendor.operations.has(operation)) ? "provider" : "gateway";
  };
}
