import { type SemanticPolicyEntry, semanticPoliciesOf } from "../../directory/semantic-policies/policy-entry.ts";
import type { GroupScope } from "../../directory/snapshot.ts";
import { type Refusal, refuse, isRefusal } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import { ambiguous } from "../../road/ambiguous.ts";
import { textOfStreamedAnswer, textOfWholeAnswer } from "../../road/answers/answer-text.ts";
import { RecordedStream } from "../../road/answers/recorded-stream.ts";
import { abortReason, type Call } from "../../road/call.ts";
import type { AnswerCheck, AnswerControl, RequestControl } from "../../road/control.ts";
import { type Decision, PASS, refused } from "../../road/decision.ts";
import { surfaceOf } from "../../road/content-surface.ts";
import { settle } from "../../road/metering/settle.ts";
import { streamUsage } from "../../road/metering/stream-usage.ts";
import type { Conversation } from "../../road/conversation.ts";
import type { Exchange } from "../../road/surface.ts";
import type { Answer, StreamAnswer, WholeAnswer } from "../../road/answer.ts";
import { warnCaller } from "../../road/policy-warnings.ts";
import type { RequestView } from "../../road/view.ts";
import { bufferAnswer } from "../../road/answers/buffered-answer.ts";
import { Judge, type Judged, type JudgeParts, type JudgeQuestion, recordedVerdict } from "./judge.ts";
import type { Direction } from "./judge-prompt.ts";

export interface SemanticPoliciesParts extends JudgeParts {
  readonly log: Log;
  /** Longest silence of a provider whose stream is held. */
  readonly idleMs: number;
}

/** Of a stream that flows while its policies only watch. */
const MAX_WATCHED_BYTES = 512 * 1024;

type Policies = readonly SemanticPolicyEntry[];

/**
 * Holds calls to rules in words, by the verdict of a model (docs/guides/semantic-policies.md). What goes in is judged
 * before anything leaves; what comes out before anything is given. A policy in shadow judges beside the call and
 * changes nothing of it.
 */
export class SemanticPolicies implements RequestControl, AnswerControl {
  readonly name = "semantic policies";
  private readonly judge: Judge;
  private readonly parts: SemanticPoliciesParts;
  private readonly bySurface = new WeakMap<GroupScope, Map<string, Policies>>();

  constructor(parts: SemanticPoliciesParts) {
    this.parts = parts;
    this.judge = new Judge(parts);
  }

  decide(call: Call, view: RequestView): Decision | Promise<Decision> {
    const policies = this.policiesOf(call, surfaceOf(call.audit.proxySubtype, "input"));
    if (policies.length === 0) return PASS;
    const unclear = ambiguous(view);
    if (unclear !== null) return refused(unclear);
    // What is only a number to the gateway cannot be judged.
    const text = view.opaque ? null : textOf(view);
    return this.apply(call, policies, "input", text).then((refusal) => (refusal === null ? PASS : refused(refusal)));
  }

  /** One that comes as a stream is metered here, where it is held. */
  prepare(call: Call, { conversation }: Exchange): AnswerCheck | null {
    if (conversation === undefined) return null;
    const policies = this.policiesOf(call, surfaceOf(call.audit.proxySubtype, "output"));
    if (policies.length === 0) return null;
    return (answer) => {
      // What a cache gives again was judged by the same policies when it was new.
      if (answer.status !== 200 || call.row.llm_cache_hit === true) return answer;
      return answer.kind === "whole"
        ? this.onWhole(call, conversation, policies, answer)
        : this.onStream(call, conversation, policies, answer);
    };
  }

  private policiesOf({ scope }: Call, surface: string | null): Policies {
    if (scope === null || surface === null || scope.tenant.semanticPolicies.length === 0) return [];
    let known = this.bySurface.get(scope);
    if (known === undefined) this.bySurface.set(scope, (known = new Map()));
    let found = known.get(surface);
    if (found === undefined) known.set(surface, (found = semanticPoliciesOf(scope).filter(({ surfaces }) => surfaces.has(surface))));
    return found;
  }

  private async onWhole(call: Call, conversation: Conversation, policies: Policies, answer: WholeAnswer): Promise<Answer | Refusal> {
    if (answer.failure !== null) return answer;
    return (await this.apply(call, policies, "output", textOfWholeAnswer(conversation, answer.body))) ?? answer;
  }

  private async onStream(call: Call, conversation: Conversation, policies: Policies, answer: StreamAnswer): Promise<Answer | Refusal> {
    if (policies.every(({ mode }) => mode === "shadow")) return this.watched(call, conversation, policies, answer);
    const held = await bufferAnswer(call, answer, answer.idleMs ?? this.parts.idleMs);
    settle(call, streamUsage(answer));
    const given = isRefusal(held)
      ? held
      : ((await this.apply(call, policies, "output", textOfStreamedAnswer(conversation, held.pieces))) ?? held.answer);
    return given;
  }

  /** Lets a stream flow and has it judged when it has ended; what is known of its text without a judge stands on its own row. */
  private watched(call: Call, conversation: Conversation, policies: Policies, answer: StreamAnswer): Answer {
    const kept = new RecordedStream(answer, MAX_WATCHED_BYTES);
    let asked: JudgeQuestion[] = [];
    call.beforeRecord.push(() => {
      if (kept.pieces === null) return;
      const text = textOfStreamedAnswer(conversation, kept.pieces);
      asked = policies
        .map((policy): JudgeQuestion => ({ call, policy, direction: "output", text }))
        .filter((question) => !this.recalled(question));
    });
    call.whenEnded.push(() => {
      for (const question of asked) this.watch(question);
    });
    return { ...answer, codec: kept };
  }

  /** Judges a text by all of them at once; a refusal when one of them stops the call. Null text: it cannot be read. */
  private async apply(call: Call, policies: Policies, direction: Direction, text: string | null): Promise<Refusal | null> {
    const enforced = policies.filter(({ mode }) => mode === "enforce");
    if (text !== null && text.trim() !== "")
      for (const policy of policies)
        if (policy.mode === "shadow" && !this.recalled({ call, policy, direction, text })) this.watch({ call, policy, direction, text });
    if (text !== null && text.trim() === "") return null;
    const judged = await Promise.all(
      enforced.map(async (policy) => ({
        policy,
        verdict: text === null ? UNREADABLE : await this.judge.judge({ call, policy, direction, text }),
      })),
    );
    // The caller is gone, and its judges with it: the row says so, and nothing of policies that were not heard.
    const why = abortReason(call);
    if (why === "client_disconnected" || why === "gateway_interrupted") return refuse("upstream_interrupted");
    let stopped: Refusal | null = null;
    for (const { policy, verdict } of judged) stopped = this.conclude(call, policy, direction, verdict) ?? stopped;
    return stopped;
  }

  /** Writes a verdict of an enforced policy onto the row; the first that stops the call names itself there. */
  private conclude(call: Call, policy: SemanticPolicyEntry, direction: Direction, verdict: Judged): Refusal | null {
    if (verdict.kind === "compliant") return null;
    note(call, policy, direction, verdict);
    call.answerReusable = false;
    const stops = verdict.kind === "failed" ? policy.onFailure === "block" : policy.action === "block";
    const { row } = call;
    if (!stops) {
      if (verdict.kind === "failed") row.guardrails_degraded = true;
      else {
        row.semantic_policy_id ??= policy.id;
        warnCaller(call, policy.name);
      }
      return null;
    }
    if (row.proxy_subtype !== "semantic_policy_block") {
      row.proxy_subtype = "semantic_policy_block";
      row.semantic_policy_id = policy.id;
    }
    const message = verdict.kind === "failed" ? "A semantic policy could not be judged, and lets nothing pass unjudged." : undefined;
    return refuse("semantic_policy_block", message, {
      extra: { policy: policy.name, direction },
      ...(verdict.reason === null ? {} : { reason: verdict.reason }),
    });
  }

  /** Judges beside the call, which may have ended by then: the row of the judge's own call tells what came of it. */
  private watch(question: JudgeQuestion): void {
    const { call, policy, direction } = question;
    this.judge
      .judge(question)
      .then((verdict) => {
        // Of a verdict known before, no row of a judge tells.
        if (verdict.cached && verdict.kind !== "compliant" && this.open(call)) note(call, policy, direction, verdict);
      })
      .catch((error: unknown) =>
        this.parts.log.warn("semantic_policy_failed", {
          call_id: call.id,
          error: error instanceof Error ? error : new Error(String(error)),
        }),
      );
  }

  /** Tells the call's own row of a verdict that no judge has to be asked for; false where one has. */
  private recalled(question: JudgeQuestion): boolean {
    const verdict = this.judge.known(question);
    if (verdict !== null && verdict.kind !== "compliant") note(question.call, question.policy, question.direction, verdict);
    return verdict !== null;
  }

  /** Whether the call's row can still be written on. */
  private open({ row }: Call): boolean {
    return row.http_status_code === undefined;
  }
}

const UNREADABLE: Judged = { kind: "failed", reason: "the text cannot be read", cached: true };

/** Everything the model would read, each piece under whose it is. */
function textOf(view: RequestView): string {
  const pieces = [
    ...view.definitions().map(({ text }) => ["tool definition", text]),
    ...view.texts().map(({ role, kind, text }) => [kind === "arguments" ? "tool arguments" : role, text]),
  ];
  return pieces.map(([whose, text]) => `[${whose}]\n${text}`).join("\n\n");
}

function note({ row }: Call, policy: SemanticPolicyEntry, direction: Direction, verdict: Judged): void {
  const known = row.custom_metadata as { semantic_policies?: unknown[] } | null | undefined;
  row.custom_metadata = { ...known, semantic_policies: [...(known?.semantic_policies ?? []), recordedVerdict(policy, direction, verdict)] };
}
