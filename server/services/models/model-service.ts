import type { StoredAnswers } from "../../directory/semantic-cache/stored-answers.ts";
import type { Log } from "../../kernel/log.ts";
import type { AskModel } from "../../road/own-calls/model-question.ts";
import type { MakeNestedCall } from "../../road/own-calls/nested-call.ts";
import { askModel } from "./ask-model.ts";
import { type Dispatch, dispatch, type DispatchParts } from "./dispatch.ts";
import { MemberHealth } from "./routing/member-health.ts";
import { SemanticCache } from "./semantic-cache/semantic-cache.ts";

export interface ModelServiceOptions extends Omit<DispatchParts, "health" | "random"> {
  readonly nest: MakeNestedCall;
  readonly storedAnswers: StoredAnswers;
  readonly log: Log;
}

/** Opens the model service: dispatch behind the semantic cache, and the gateway's own questions. */
export function openModels(options: ModelServiceOptions): ModelService {
  const { nest, storedAnswers: stored, clock, log } = options;
  const direct = dispatch({ ...options, health: new MemberHealth(), random: Math.random });
  const cache = new SemanticCache({ stored, clock, log, nest, models: direct, providers: options.providers });
  return { models: cache.models, direct, ask: askModel(nest, direct, options.providers), settled: () => cache.settled() };
}

export interface ModelService {
  readonly models: Dispatch;
  /** The same without the cache. */
  readonly direct: Dispatch;
  /** Asks a model on behalf of the gateway itself. */
  readonly ask: AskModel;
  /** Resolves when all pending writes to the cache are done or have failed. */
  settled(): Promise<void>;
}
