import type { ModelEntry } from "../../../directory/snapshot.ts";
import { isRefusal } from "../../../kernel/errors.ts";
import { cancelQuietly } from "../../../kernel/http/cancel-quietly.ts";
import { type AttemptParts, providerOf, targetOf } from "./attempt.ts";
import { probeQuestion } from "./probe-question.ts";

/** The result of a probe. `detail` contains no credential and nothing the provider said. */
export interface Probe {
  readonly healthy: boolean;
  readonly detail: string;
  readonly latencyMs: number;
}

const TIMEOUT_MS = 15_000;

/** Sends a model a minimal request, to check its address, credential and name. */
export async function probe(model: ModelEntry, parts: AttemptParts): Promise<Probe> {
  const startedAt = performance.now();
  const found = (healthy: boolean, detail: string): Probe => ({ healthy, detail, latencyMs: Math.round(performance.now() - startedAt) });
  const provider = providerOf(parts.providers, model);
  if (isRefusal(provider)) return found(false, provider.message);
  const question = probeQuestion(model, provider.traits);
  if (question === null) return found(false, `There is no probe for a model that serves ${model.modes.join(", ")}.`);
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort("upstream_timeout"), TIMEOUT_MS);
  try {
    const reply = await provider.send(targetOf(model), { ...question, stream: false, headers: {}, abort, timeoutMs: TIMEOUT_MS });
    if (isRefusal(reply)) return found(false, reply.message);
    await cancelQuietly(reply.response.body);
    const { status } = reply.response;
    return status >= 200 && status < 300
      ? found(true, `The provider answered ${status}.`)
      : found(false, `The provider answered ${status}.`);
  } finally {
    clearTimeout(timer);
  }
}
