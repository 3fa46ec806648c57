import { EMPTY_VIEW } from "../../road/request/empty-view.ts";
import type { CallerJob, InputProblem } from "../../services/batch/batch-service.ts";
import { isRefusal, type Refusal, refuse, reasonOf } from "../../kernel/errors.ts";
import type { Answer } from "../../road/answer.ts";
import type { Call } from "../../road/call.ts";
import type { Exchange } from "../../road/surface.ts";
import type { BatchService, Submission, SubmittedJob } from "../../services/batch/batch-service.ts";
import { BATCH_ENDPOINTS } from "../../services/batch/endpoints.ts";
import { BodyTooSlow } from "../../kernel/http/paced-body.ts";

/** Reads a job's lines, and returns an exchange that starts it once every control has passed it, including access to its model. */
export async function submitted(
  call: Call,
  batches: BatchService,
  submission: Submission,
  answered: (job: CallerJob) => Answer | Promise<Answer>,
  invalid: (read: SubmittedJob) => Refusal | readonly InputProblem[],
): Promise<Exchange | Refusal> {
  let read: SubmittedJob | Refusal;
  try {
    read = await batches.submit(call, submission);
  } catch (error) {
    if (error instanceof BodyTooSlow) return refuse("body_timeout", undefined, { headers: { connection: "close" } });
    if (call.abort.signal.aborted) return refuse("invalid_body", "The request body broke off.", { reason: reasonOf(error) });
    throw error;
  }
  if (isRefusal(read)) return read;
  const job = read;
  const { model, modelId } = job.model;
  call.row.custom_metadata = { ...(call.row.custom_metadata as object | null | undefined), batch_submit: { job_id: job.id } };
  if (job.problems.length > 0) {
    const wrong = invalid(job);
    if (isRefusal(wrong)) return wrong;
    return exchangeOf(null, null, [], async () => {
      const kept = await batches.keepFailed(call, submission.owner, job, wrong);
      return isRefusal(kept) ? kept : answered(kept);
    });
  }
  return exchangeOf(model, modelId, BATCH_ENDPOINTS[job.endpoint].modes, async () => {
    const begun = await batches.begin(call, submission.owner, job);
    return isRefusal(begun) ? begun : answered(begun);
  });
}

function exchangeOf(name: string | null, id: string | null, modes: readonly string[], answer: () => Promise<Answer | Refusal>): Exchange {
  const target = name === null && id === null ? EMPTY_VIEW.target : ({ kind: "model", name, id, modes } as const);
  return { view: { ...EMPTY_VIEW, target }, answer };
}
