import { ReplayRunner, type ReplayRunnerParts } from "./services/replay/replay-runner.ts";
import type { Controls } from "./road/govern.ts";
import { governedBy } from "./road/govern.ts";
import type { Job } from "./kernel/job.ts";
import type { Dispatch } from "./services/models/dispatch.ts";
import type { KeptItems } from "./services/models/kept-items.ts";
import type { ToolService } from "./services/tools/tool-service.ts";
import { generateContent } from "./surfaces/gemini/generate-content.ts";
import { chatCompletions } from "./surfaces/llm/chat-completions.ts";
import { responses } from "./surfaces/llm/responses.ts";
import { toolServer } from "./surfaces/mcp/tool-server.ts";
import { messages } from "./surfaces/messages/messages.ts";

const REPLAYS_LOOKED_FOR_MS = 1_000;

/**
 * Of the controls, a replay passes all but two: nobody is asked to approve what is only tried, and a system that is
 * suspended is tried all the same, because what it does is what has to be known before it comes back.
 */
const NOT_IN_REPLAYS: ReadonlySet<string> = new Set(["autonomy", "held answers"]);

interface ReplayParts extends Omit<ReplayRunnerParts, "govern" | "surfaces"> {
  readonly controls: Controls;
  /** Without the cache: what was answered once is not what is answered now. */
  readonly models: Dispatch;
  readonly items: Pick<KeptItems, "find" | "keep">;
  readonly tools: ToolService;
}

/** What carries replays out, and its job. */
export function openReplays({ controls, models, items, tools, ...parts }: ReplayParts) {
  const passed = <T extends { readonly name: string }>(list: readonly T[]) => list.filter(({ name }) => !NOT_IN_REPLAYS.has(name));
  const runner = new ReplayRunner({
    ...parts,
    govern: governedBy({ request: passed(controls.request), answer: passed(controls.answer) }),
    surfaces: {
      chat: chatCompletions(models),
      messages: messages(models),
      responses: responses(models, items),
      gemini: generateContent(models),
      tool: toolServer(tools),
    },
  });
  const job: Job = { name: "run_replays", everyMs: REPLAYS_LOOKED_FOR_MS, run: () => runner.run() };
  return { jobs: [job], stop: () => runner.stop() };
}
