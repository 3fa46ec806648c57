import { agentAccess } from "../controls/access/agent-access.ts";
import { access } from "../controls/access/access.ts";
import { toolAccess } from "../controls/access/tool-access.ts";
import { actionArguments } from "../controls/argument-policies/action-arguments.ts";
import { autonomy } from "../controls/autonomy/autonomy.ts";
import { Approvals } from "../controls/approvals/approvals.ts";
import { generatedToolCalls } from "../controls/argument-policies/govern-answer.ts";
import type { GuardrailEngines } from "../controls/guardrails/engines.ts";
import { Guardrails } from "../controls/guardrails/guardrails.ts";
import { GuardrailInspector } from "../controls/guardrails/inspector.ts";
import { restoredValues } from "../controls/guardrails/restoring/restored-values.ts";
import { Knowledge } from "../controls/knowledge/knowledge.ts";
import { governedMedia } from "../controls/media/media-governance.ts";
import type { Limits } from "../controls/limits/limits.ts";
import { HeldAnswers } from "../controls/parameters/held-answers.ts";
import { parameters } from "../controls/parameters/parameters.ts";
import { toolCallCap } from "../controls/parameters/tool-call-cap.ts";
import { SemanticPolicies } from "../controls/semantic-policies/semantic-policies.ts";
import { SemanticEnforcement } from "../controls/semantic-policies/semantic-enforcement.ts";
import { SemanticInspector } from "../controls/semantic-policies/semantic-inspector.ts";
import type { ConfigurationProvenance } from "../directory/configuration-provenance.ts";
import type { Database } from "../store/database.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Log } from "../kernel/log.ts";
import type { SecretBox } from "../kernel/secrets.ts";
import type { AdmissionParts } from "../road/admission/admit.ts";
import { Gates } from "../road/gates.ts";
import type { Controls } from "../road/govern.ts";
import type { FindPassages } from "../road/knowledge.ts";
import type { ActionControl, StandingControl } from "../road/control.ts";
import type { AskModel } from "../road/own-calls/model-question.ts";

interface ControlParts {
  readonly admission: AdmissionParts;
  readonly db: Database;
  readonly secrets: SecretBox;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: Limits;
  readonly engines: GuardrailEngines;
  readonly askModel: AskModel;
  readonly findPassages: FindPassages;
  /** The judge model if neither the semantic policy nor its tenant names one; null for none. */
  readonly judgeModel: string | null;
  readonly upstreamTimeoutMs: number;
  /** The provenance of the configuration in force in this process. */
  readonly knowledge: (tenantId: string) => ConfigurationProvenance;
}

/**
 * Every control, in the order calls pass them. The order is part of the product (docs/lifecycle.md). Requests: access is decided before
 * anything is counted, changed or inspected. Answers: guardrails, then restored values, so that policies on tool calls judge the calls as
 * the caller gets them, the cap on tool calls, semantic policies, then holding for approval. Actions: argument policies, then guardrails and
 * semantic policies on the definition, before anyone is asked to approve.
 */
export function openControls(parts: ControlParts): {
  readonly controls: Controls;
  readonly gates: Gates;
  /** The request controls that decide access. */
  readonly standingControls: readonly StandingControl[];
  readonly cleared: GuardrailInspector["cleared"];
  /** The checks of an action that come before approval. */
  readonly actions: readonly ActionControl[];
  /** Judges a text against a semantic policy, for trying a policy out. */
  readonly judge: SemanticEnforcement["verdictOf"];
} {
  const { askModel, clock, log, limits, upstreamTimeoutMs: idleMs } = parts;
  const engines = { engines: parts.engines, askModel };
  const guardrails = new Guardrails({ ...engines, idleMs });
  const inWords = new SemanticEnforcement({ ask: askModel, clock, log, fallbackModel: parts.judgeModel });
  const semanticPolicies = new SemanticPolicies(inWords, idleMs);
  const inspector = new GuardrailInspector(engines);
  const inspectors = [inspector, new SemanticInspector(inWords, clock)];
  const knowledge = new Knowledge({ find: parts.findPassages, cleared: inspector.cleared.bind(inspector), log });
  const heldAnswers = new HeldAnswers(parts, idleMs);
  const actions = [actionArguments, ...inspectors];
  const standingControls = [autonomy(parts.knowledge), access, toolAccess, agentAccess];
  return {
    cleared: inspector.cleared.bind(inspector),
    controls: {
      request: [...standingControls, limits, parameters, governedMedia, guardrails, knowledge, semanticPolicies, heldAnswers],
      answer: [guardrails, restoredValues, generatedToolCalls, toolCallCap, limits.toolCallCaps, semanticPolicies, heldAnswers],
    },
    gates: new Gates({ ...parts.admission, actions: [...actions, new Approvals(parts)], inspectors, standing: standingControls }),
    actions,
    standingControls: standingControls,
    judge: inWords.verdictOf.bind(inWords),
  };
}
