import type { Call } from "../../road/call.ts";
import type { RunAccess } from "../../services/runs/run-access.ts";
import type { Surface } from "../../road/surface.ts";
import { type Answer, jsonAnswer } from "../../road/answer.ts";
import { isRefusal, type Refusal } from "../../kernel/errors.ts";
import { EMPTY_VIEW } from "../../road/request/empty-view.ts";
import { llmRefusals } from "../llm/refusals.ts";
import { readRunEnd } from "./run-end-body.ts";

/** GET /v1/runs/{root_task_id}: a run as recorded in the ledger. */
export function runInspect(runs: RunAccess): Surface {
  return { ...llmRefusals, read: () => ({ view: EMPTY_VIEW, answer: async (call) => answerOf(await runs.inspect(call, idIn(call))) }) };
}

/** POST /v1/runs/{root_task_id}/end: ends a run; one that has already ended keeps its state. */
export function runEnd(runs: RunAccess): Surface {
  return {
    ...llmRefusals,
    read(_call, body) {
      const end = readRunEnd(body);
      if (isRefusal(end)) return end;
      return {
        view: EMPTY_VIEW,
        async answer(call) {
          const run = await runs.end(call, idIn(call), end);
          if (!isRefusal(run)) {
            if (end.state !== null) call.row.run_end_state = end.state;
            if (end.outcome !== null)
              call.row.custom_metadata = { ...(call.row.custom_metadata as object | undefined), run_outcome: end.outcome };
          }
          return answerOf(run);
        },
      };
    },
  };
}

function idIn(call: Call): string {
  const segment = call.path.split("/")[3] ?? "";
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function answerOf(value: object | Refusal): Answer | Refusal {
  return isRefusal(value) ? value : jsonAnswer(value);
}
