import type { Refusal } from "../../kernel/errors.ts";
import { replyObject } from "../../wire/openai/reply-object.ts";
import type { Call } from "../call.ts";
import type { RequestControl } from "../control.ts";
import { type Decision, PASS } from "../decision.ts";
import { outputFormOf } from "../output/answer-formats.ts";
import { AnswerGuard } from "../output/answer-guard.ts";
import { GuardedStream } from "../output/guarded-stream.ts";
import type { Conversation } from "../routing/conversation.ts";
import type { Dispatch } from "../routing/dispatch.ts";
import { type Answer, isRefusal, type StreamAnswer, type WholeAnswer } from "../surface.ts";
import type { RequestView } from "../view.ts";
import { askEngines, type Engines } from "./engines.ts";
import { GuardRun } from "./guard-run.ts";
import { guardInput } from "./input.ts";
import { surfaceGuard } from "./surface-guard.ts";
import { surfaceOf } from "./surfaces.ts";

export interface GuardrailParts {
  readonly engines: Engines;
}

const encoder = new TextEncoder();

/** What stands between a model's answer and the caller. */
interface OutputGuard {
  readonly conversation: Conversation;
  readonly run: GuardRun;
}

/** Guardrails on what goes to a model and on what comes back (docs/guides/guardrails.md). */
export class Guardrails implements RequestControl {
  readonly name = "guardrails";
  private readonly parts: GuardrailParts;

  constructor(parts: GuardrailParts) {
    this.parts = parts;
  }

  decide(call: Call, view: RequestView): Decision | Promise<Decision> {
    const run = runOf(call, "input");
    return run === null ? PASS : guardInput(call, view, run, this.parts.engines);
  }

  /** The way to the models with the guards on what comes back. They are made ready before anything leaves. */
  around(dispatch: Dispatch): Dispatch {
    return {
      ...dispatch,
      converse: async (call, conversation) => {
        const run = runOf(call, "output");
        const answer = await dispatch.converse(call, conversation);
        if (run === null || isRefusal(answer) || answer.status >= 300) return answer;
        const guard = { conversation, run };
        const given = await (answer.kind === "whole" ? this.onWhole(call, guard, answer) : this.onStream(call, guard, answer));
        if (run.action !== null) call.answerReusable = false;
        return given;
      },
    };
  }

  private async onWhole(call: Call, { conversation, run }: OutputGuard, answer: WholeAnswer): Promise<Answer | Refusal> {
    const body = replyObject(answer.body);
    if (body === null) return answer;
    const guard = new AnswerGuard(outputFormOf(conversation).texts, run, null);
    const changed = guard.whole(body);
    if (guard.refusal === null) await askEngines(this.parts.engines, run, call, "output", guard.said);
    run.tell(call.row);
    if (guard.refusal !== null) call.withheldUsage = answer.usage;
    return guard.refusal ?? (changed ? { ...answer, body: encoder.encode(JSON.stringify(body)) } : answer);
  }

  private async onStream(call: Call, { conversation, run }: OutputGuard, answer: StreamAnswer): Promise<Answer | Refusal> {
    const { texts, framing } = outputFormOf(conversation);
    const guard = new AnswerGuard(texts, run, null);
    if (run.surface.engines.length > 0) {
      // Streams are not held for engines: each counts as one that could not look.
      await askEngines({}, run, call, "output", "unread");
      const refusal = run.refusal();
      if (refusal !== null) {
        void answer.upstream.cancel().catch(() => undefined);
        call.withheldUsage = answer.codec.usage;
        run.tell(call.row);
        return refusal;
      }
    }
    const codec = new GuardedStream(answer.codec, guard, framing);
    const head = answer.head.map((piece) => codec.pass(piece)).filter((piece) => piece !== null);
    return { ...answer, codec, head, refusal: () => codec.refusal, beforeRecord: () => run.tell(call.row) };
  }
}

function runOf({ scope, audit }: Call, direction: "input" | "output"): GuardRun | null {
  const surface = scope === null || scope.tenant.guardrails.length === 0 ? null : surfaceOf(audit.proxySubtype, direction);
  const guard = scope === null || surface === null ? null : surfaceGuard(scope, surface);
  return guard === null ? null : new GuardRun(guard);
}
