import { BoundedMap } from "../../directory/bounded-map.ts";
import type { SemanticPolicyEntry } from "../../directory/semantic-policies/policy-entry.ts";
import type { ModelEntry, TenantSnapshot } from "../../directory/snapshot.ts";
import type { Clock } from "../../kernel/clock.ts";
import { SURFACES } from "../../road/request/content-surface.ts";
import type { AskModel } from "../../road/own-calls/model-question.ts";
import { type JudgePrompt, judgePrompt, VERDICT_SCHEMA, windowsOf } from "./judge-prompt.ts";
import { type JudgeQuestion, judgeQuestionKey } from "./judge-question.ts";
import { readJudgeVerdict, type JudgeVerdict } from "./verdict.ts";

export interface JudgeParts {
  readonly ask: AskModel;
  readonly clock: Clock;
  /** Name of the model used if neither the policy nor the tenant names a judge. */
  readonly fallbackModel: string | null;
}

/** `cached`: no model was asked, so no nested call's row records the verdict. */
export type Judged = JudgeVerdict & { readonly cached: boolean };

const MAX_CACHED = 20_000;
const CACHE_MS = 3_600_000;
const MAX_TOKENS = 1_024;

/** Has models of the gateway judge texts. Verdicts are cached by text, rule and model. */
export class Judge {
  private readonly kept = new BoundedMap<string, { readonly verdict: JudgeVerdict; readonly until: number }>(MAX_CACHED);
  /** Models that rejected a request with a JSON schema; they are asked without one. */
  private readonly plain = new BoundedMap<string, true>(1_000);
  private readonly parts: JudgeParts;

  constructor(parts: JudgeParts) {
    this.parts = parts;
  }

  async judge(question: JudgeQuestion): Promise<Judged> {
    const task = this.taskOf(question);
    if ("kind" in task) return task;
    return worstOf(await Promise.all(task.windows.map((window) => this.judgeWindow({ ...question, text: window }, task.model))));
  }

  /** The verdict if it is known without asking a model, otherwise null. */
  known(question: JudgeQuestion): Judged | null {
    const task = this.taskOf(question);
    if ("kind" in task) return task;
    const verdicts = task.windows.map((window) => this.keptVerdict(judgeQuestionKey({ ...question, text: window }, task.model)));
    return verdicts.every((verdict) => verdict !== null) ? worstOf(verdicts) : null;
  }

  /** The judge model and the windows of the text, or a failed verdict if it cannot be judged. */
  private taskOf({ call, policy, text }: JudgeQuestion): { readonly model: ModelEntry; readonly windows: readonly string[] } | Judged {
    const tenant = call.scope?.tenant;
    const model = tenant === undefined ? null : judgeOf(policy, tenant, this.parts.fallbackModel);
    if (model === null) return { kind: "failed", reason: "there is no judge model", cached: true };
    const windows = windowsOf(text);
    return windows === null ? { kind: "failed", reason: "the text is too long to be judged", cached: true } : { model, windows };
  }

  private keptVerdict(key: string): Judged | null {
    const known = this.kept.get(key);
    return known !== undefined && known.until > this.parts.clock.now() ? { ...known.verdict, cached: true } : null;
  }

  private async judgeWindow(question: JudgeQuestion, model: ModelEntry): Promise<Judged> {
    const key = judgeQuestionKey(question, model);
    const known = this.keptVerdict(key);
    if (known !== null) return known;
    const verdict = await this.ask(question, model);
    if (verdict.kind !== "failed") this.kept.set(key, { verdict, until: this.parts.clock.now() + CACHE_MS });
    return { ...verdict, cached: false };
  }

  private async ask(question: JudgeQuestion, model: ModelEntry): Promise<JudgeVerdict> {
    const prompt = judgePrompt(question.policy, question.text, question.surface);
    const startedAt = performance.now();
    const plain = this.plain.get(model.id) === true;
    const first = await this.send(question, model, prompt, plain, question.policy.timeoutMs);
    if (plain || !first.unfit) return first.verdict;
    const again = await this.send(question, model, prompt, true, Math.max(1, question.policy.timeoutMs - (performance.now() - startedAt)));
    if (!again.unfit) this.plain.set(model.id, true);
    return again.verdict;
  }

  private async send(
    { call, policy, surface }: JudgeQuestion,
    model: ModelEntry,
    prompt: JudgePrompt,
    plain: boolean,
    timeoutMs: number,
  ): Promise<{ readonly verdict: JudgeVerdict; readonly unfit: boolean }> {
    let verdict: JudgeVerdict = { kind: "failed", reason: "the judge was not asked" };
    const reply = await this.parts.ask(call, {
      purpose: "semantic_policy_judge",
      model,
      messages: prompt.messages,
      outputTokens: plain ? null : MAX_TOKENS,
      temperature: plain ? null : 0,
      schema: plain ? null : VERDICT_SCHEMA,
      timeoutMs,
      waitMs: null,
      hashesOnly: false,
      endsWithParent: policy.mode === "enforce",
      settled(nested, judgeReply) {
        verdict =
          judgeReply.kind === "failed" ? { kind: "failed", reason: judgeReply.reason } : readJudgeVerdict(judgeReply.text, prompt.check);
        nested.row.semantic_policy_id = policy.id;
        nested.row.custom_metadata = {
          ...(nested.row.custom_metadata as object | null | undefined),
          semantic_policy: recordedVerdict(policy, SURFACES[surface].direction, verdict),
        };
      },
    });
    if (reply.kind === "said") return { verdict, unfit: false };
    return { verdict: { kind: "failed", reason: reply.reason }, unfit: reply.unfit };
  }
}

/** The verdict on a whole text from those on its windows, of which there is at least one. */
function worstOf(verdicts: readonly Judged[]): Judged {
  return verdicts.find(({ kind }) => kind === "violation") ?? verdicts.find(({ kind }) => kind === "failed") ?? (verdicts[0] as Judged);
}

/** A verdict as rows record it. */
export function recordedVerdict(policy: SemanticPolicyEntry, direction: "input" | "output", { kind, reason }: JudgeVerdict) {
  return { policy_id: policy.id, policy: policy.name, direction, mode: policy.mode, action: policy.action, verdict: kind, reason };
}

function judgeOf(policy: SemanticPolicyEntry, tenant: TenantSnapshot, fallback: string | null): ModelEntry | null {
  const id = policy.judgeModelId ?? tenant.defaultJudgeModelId;
  const model = id !== null ? tenant.models.get(id) : fallback === null ? undefined : tenant.modelsByName.get(fallback);
  return model?.enabled === true ? model : null;
}
