import type { z } from "zod";
import { isRefusal, type Refusal, Refused } from "../../kernel/errors.ts";
import type { Answer } from "../../road/answer.ts";
import type { Call } from "../../road/call.ts";
import type { Exchange, Surface } from "../../road/surface.ts";
import { EMPTY_VIEW, type RequestView } from "../../road/view.ts";
import { BATCH_ENDPOINTS } from "../../services/batch/batch-endpoints.ts";
import type { JobFacts, TakenJob } from "../../services/batch/batches.ts";
import { check, jsonObjectOf, readQuery, utf8Of } from "../../wire/strict-input.ts";
import { llmRefusals } from "../llm/refusals.ts";

type Reading<T> = T | Refusal | Promise<T | Refusal>;

/** What throws a refusal answers with it. */
async function refusing<T>(work: () => Reading<T>): Promise<T | Refusal> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refused) return error.refusal;
    throw error;
  }
}

/** A surface of batch jobs that only looks at or ends one: nothing of it is for a model. */
export function batchSurface(answer: (call: Call) => Reading<Answer>): Surface {
  return { ...llmRefusals, read: () => ({ view: EMPTY_VIEW, answer: (call) => refusing(() => answer(call)) }) };
}

/**
 * A surface that makes a job: judged like one call of the model its lines name, so that who may not call the model, or has
 * spent what there is to spend, hears it at once.
 */
export function submitSurface<T extends z.ZodType>(
  schema: T,
  factsOf: (call: Call, body: z.output<T>) => Reading<JobFacts>,
  answer: (call: Call, facts: JobFacts, body: z.output<T>) => Reading<Answer>,
): Surface {
  return {
    ...llmRefusals,
    read: (call, bytes) =>
      refusing<Exchange>(async () => {
        const given = jsonObjectOf(utf8Of(bytes ?? new Uint8Array(0)), call.headers.get("content-type") ?? "");
        const body = check(schema, given, "invalid_body");
        const facts = await factsOf(call, body);
        if (isRefusal(facts)) return facts;
        return { view: viewOf(facts), answer: (admitted) => refusing(() => answer(admitted, facts, body)) };
      }),
  };
}

function viewOf({ endpoint, model, modelName }: JobFacts): RequestView {
  const named = model === null ? { name: modelName, id: null } : nameIn(model);
  return { ...EMPTY_VIEW, target: { kind: "model", ...named, modes: BATCH_ENDPOINTS[endpoint].modes } };
}

const nameIn = (model: NonNullable<JobFacts["model"]>) =>
  "model" in model ? { name: model.model, id: null } : { name: null, id: model.model_id };

export function checkedQuery<T extends z.ZodType>(schema: T, call: Call): z.output<T> {
  return check(schema, readQuery(new URL(call.url)), "invalid_query");
}

/** What stands behind `jobs/` or `batches/` in the path. */
export function jobIdIn(call: Call): string {
  return /\/(?:jobs|batches)\/([A-Za-z0-9_-]{1,100})(?:\/|$)/.exec(call.path)?.[1] ?? "";
}

/** Says on the row which job the call was about. */
export function noteJob(call: Call, job: TakenJob): void {
  call.row.custom_metadata = {
    ...(call.row.custom_metadata as object | null | undefined),
    batch: { job_id: job.id, total: job.total, status: job.status, input_file_id: job.input_file_id },
  };
}
