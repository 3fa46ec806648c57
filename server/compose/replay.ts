import { Judge } from "../controls/semantic-policies/judge.ts";
import type { SemanticPolicyEntry } from "../directory/semantic-policies/policy-entry.ts";
import type { AskModel } from "../road/own-calls/model-question.ts";
import type { JudgeRubric } from "../services/replay/replay-case.ts";
import { ReplayRunner, type ReplayRunnerParts } from "../services/replay/replay-runner.ts";
import type { Controls } from "../road/govern.ts";
import { governedBy } from "../road/govern.ts";
import type { Job } from "../kernel/scheduling/job.ts";
import type { Dispatch } from "../services/models/dispatch.ts";
import type { ToolService } from "../services/tools/tool-service.ts";
import { generateContent } from "../surfaces/gemini/generate-content.ts";
import { chatCompletions } from "../surfaces/llm/chat-completions.ts";
import type { ResponseServices } from "../surfaces/llm/response-services.ts";
import { responses } from "../surfaces/llm/responses.ts";
import { toolServer } from "../surfaces/mcp/tool-server.ts";
import { messages } from "../surfaces/messages/messages.ts";

const POLL_INTERVAL_MS = 1_000;

/**
 * Controls that replays skip: nobody is asked to approve a trial, and a suspended system can be tried, because its behaviour must be known
 * before it is reinstated.
 */
const NOT_IN_REPLAYS: ReadonlySet<string> = new Set(["autonomy", "held answers"]);

const RUBRIC_MS = 30_000;

/** Judges rubrics as a policy that an answer violates by not meeting the rubric. */
function rubricJudge(judge: Judge): JudgeRubric {
  return async (call, rubric, text) => {
    const policy: SemanticPolicyEntry = {
      ...{ id: "replay-rubric", name: "rubric of a replayed case", action: "block", mode: "enforce", onFailure: "block" },
      constraintText: `The text has to meet this, and breaks the rule where it does not:\n${rubric}`,
      ...{ surfaces: new Set(), judgeModelId: null, timeoutMs: RUBRIC_MS, groupIds: null },
    };
    const { kind, reason } = await judge.judge({ call, policy, surface: "chat_output", text });
    return kind === "failed" ? { reason: reason ?? "the judge gave no verdict" } : { meets: kind === "compliant" };
  };
}

interface ReplayParts extends Omit<ReplayRunnerParts, "govern" | "surfaces" | "judgeRubric"> {
  readonly ask: AskModel;
  /** The judge model if the tenant names none; null for none. */
  readonly judgeModel: string | null;
  readonly controls: Controls;
  /** Without the semantic cache: a replay needs a fresh answer. */
  readonly models: Dispatch;
  readonly items: ResponseServices["items"];
  readonly responses: ResponseServices["responses"];
  readonly tools: ToolService;
}

/** The replay runner and its job. */
export function openReplays({ controls, models, items, responses: stored, tools, ask, judgeModel, ...parts }: ReplayParts) {
  const passed = <T extends { readonly name: string }>(list: readonly T[]) => list.filter(({ name }) => !NOT_IN_REPLAYS.has(name));
  const runner = new ReplayRunner({
    ...parts,
    judgeRubric: rubricJudge(new Judge({ ask, clock: parts.clock, fallbackModel: judgeModel })),
    govern: governedBy({ request: passed(controls.request), answer: passed(controls.answer) }),
    surfaces: {
      chat: chatCompletions(models),
      messages: messages(models),
      responses: responses({ models, items, responses: stored }),
      gemini: generateContent(models),
      tool: toolServer(tools),
    },
  });
  const job: Job = { name: "run_replays", everyMs: POLL_INTERVAL_MS, run: () => runner.run() };
  return { jobs: [job], stop: () => runner.stop() };
}
