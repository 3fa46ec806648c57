import { EMPTY_VIEW } from "../../road/empty-view.ts";
import { ambiguityOf, ambiguousName } from "../../wire/ambiguous-name.ts";
import type { JsonObject } from "../../wire/document.ts";
import { DECLARED_END_STATES, RUN_OUTCOMES } from "@gatehouse/contracts/runs";
import type { Call } from "../../road/call.ts";
import type { RunAccess } from "../../services/runs/run-access.ts";
import type { Surface } from "../../road/surface.ts";
import { type Answer, jsonAnswer } from "../../road/answer.ts";
import { isRefusal, type FieldError, type Refusal, refuse } from "../../kernel/errors.ts";
import { llmRefusals } from "../llm/refusals.ts";

interface EndBody {
  readonly state: (typeof DECLARED_END_STATES)[number] | null;
  readonly outcome: (typeof RUN_OUTCOMES)[number] | null;
}

/** GET /v1/runs/{root_task_id}: a run as the ledger sees it. */
export function runInspect(runs: RunAccess): Surface {
  return { ...llmRefusals, read: () => ({ view: EMPTY_VIEW, answer: async (call) => answerOf(await runs.inspect(call, idIn(call))) }) };
}

/** POST /v1/runs/{root_task_id}/end: closes a run; an ended one keeps its state. */
export function runEnd(runs: RunAccess): Surface {
  return {
    ...llmRefusals,
    read(_call, body) {
      const end = readEnd(body);
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

function readEnd(body: Uint8Array | null): EndBody | Refusal {
  let value: unknown = {};
  try {
    if (body !== null && body.byteLength > 0) value = JSON.parse(new TextDecoder().decode(body));
  } catch {
    return refuse("invalid_body", undefined, { fields: [{ field: "", message: "is not JSON" }] });
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return refuse("invalid_body", undefined, { fields: [{ field: "", message: "must be a JSON object" }] });
  const unclear = ambiguousName(value as JsonObject);
  if (unclear !== null) return refuse("ambiguous_name", ambiguityOf(unclear));
  const { state = null, outcome = null, ...rest } = value as Record<string, unknown>;
  const fields: FieldError[] = Object.keys(rest).map((field) => ({ field, message: "is not known here" }));
  if (state !== null && !DECLARED_END_STATES.some((known) => known === state))
    fields.push({ field: "state", message: `must be one of ${DECLARED_END_STATES.join(", ")}` });
  if (outcome !== null && !RUN_OUTCOMES.some((known) => known === outcome))
    fields.push({ field: "outcome", message: `must be one of ${RUN_OUTCOMES.join(", ")}` });
  return fields.length > 0
    ? refuse("invalid_body", undefined, { fields })
    : { state: state as EndBody["state"], outcome: outcome as EndBody["outcome"] };
}

function answerOf(value: object | Refusal): Answer | Refusal {
  return isRefusal(value) ? value : jsonAnswer(value);
}
