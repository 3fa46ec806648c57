import { headersToRepeat } from "../../road/own-calls/repeated-headers.ts";
import type { BatchJob, BatchProblem, BatchStore, JobOwner, NewBatchJob } from "../../directory/batch/batch-store.ts";
import { isRefusal, type Refusal, refuse } from "../../kernel/errors.ts";
import type { Call } from "../../road/call.ts";
import type { LineForm } from "../../wire/batch/batch-line.ts";
import type { InputPiece } from "../../wire/batch/text-lines.ts";
import type { BatchEndpoint } from "./endpoints.ts";
import { Intake, type JobModel, type LinesSentTo, type NumberedProblem } from "./intake.ts";

/** The store's types under the names that surfaces use. */
export type CallerJob = BatchJob;
export type InputProblem = BatchProblem;

/** Most jobs of a tenant that have not ended, and most concurrent submissions of a tenant. */
const MAX_OPEN = 200;
const SUBMISSIONS_AT_ONCE = 4;

/** The properties of a job besides its lines. */
export interface JobFacts extends JobModel, LinesSentTo {
  readonly completionWindow: string;
  readonly description: string | null;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly retryInterrupted: boolean;
  /** Null: results expire like the tenant's files. */
  readonly resultsExpireSeconds: number | null;
}

export interface Submission {
  readonly owner: JobOwner;
  readonly pieces: AsyncIterable<InputPiece>;
  /** The endpoint each line must name; null if lines do not name one. */
  readonly lineEndpoint: BatchEndpoint | null;
  readonly lineForm: LineForm;
  readonly inputFileId: string | null;
  /** Called after the lines were read, because the facts may follow them in the request. */
  facts(): JobFacts | Refusal;
}

/** A job whose lines are stored but not yet to be run. */
export interface SubmittedJob {
  readonly id: string;
  /** Both null if the lines name several models. */
  readonly model: JobModel;
  readonly endpoint: BatchEndpoint;
  readonly problems: readonly NumberedProblem[];
}

/** The properties of a job's lines that decide who can run it. */
export interface LinesOfJob {
  readonly lines: number;
  readonly tools: boolean;
  /** Whether the caller's headers are sent with the lines. */
  readonly vendorHeaders: boolean;
}

interface BatchServiceParts {
  readonly store: BatchStore;
  readonly now: () => number;
  /** Who runs a job whose lines all go where the call may go: the gateway or the provider. */
  readonly modeFor: (call: Call, endpoint: string, has: LinesOfJob) => BatchJob["mode"];
  /** Called when there is something to run. */
  readonly wake: () => void;
}

/** Batch jobs as seen by their callers. */
export class BatchService {
  readonly store: BatchStore;
  private readonly parts: BatchServiceParts;
  private readonly submitting = new Map<string, number>();

  constructor(parts: BatchServiceParts) {
    this.parts = parts;
    this.store = parts.store;
  }

  /** Reads a job's lines into the store. The job is deleted when the call ends, unless `begin` or `keepFailed` was called. */
  async submit(call: Call, submission: Submission): Promise<SubmittedJob | Refusal> {
    const { tenantId } = submission.owner;
    // Tokens of an external issuer are checked only when presented, and nobody presents one for a line.
    if (call.row.api_key_id == null && call.user === null) return refuse("batch_needs_key");
    const under = this.submitting.get(tenantId) ?? 0;
    if (under >= SUBMISSIONS_AT_ONCE) return refuse("too_many_uploads", undefined, { headers: { "retry-after": "1" } });
    this.submitting.set(tenantId, under + 1);
    try {
      if ((await this.store.countOpen(tenantId)) >= MAX_OPEN)
        return refuse("too_many_batches", undefined, { headers: { "retry-after": "60" } });
      return await this.read(call, submission);
    } finally {
      const left = (this.submitting.get(tenantId) ?? 1) - 1;
      if (left === 0) this.submitting.delete(tenantId);
      else this.submitting.set(tenantId, left);
    }
  }

  private async read(
    call: Call,
    { owner, pieces, lineEndpoint, lineForm, inputFileId, facts: asked }: Submission,
  ): Promise<SubmittedJob | Refusal> {
    const id = `batch_${call.id}`;
    await this.store.create(this.record(call, owner, id, inputFileId));
    call.whenEnded.push(() => {
      if (!this.begun.has(call)) void this.store.remove(owner.tenantId, id).catch(() => undefined);
    });
    const intake = new Intake(this.store, { id, tenant_id: owner.tenantId }, lineForm);
    await intake.take(pieces, lineEndpoint);
    const facts = asked();
    // If bad lines ended the reading, the facts behind them were never read, so the lines' problems are reported instead.
    if (isRefusal(facts)) return intake.cut ? { id, ...UNSAID, problems: intake.problems } : facts;
    const named = facts.model !== null || facts.modelId !== null ? facts : { model: intake.model, modelId: null };
    const model = { model: named.model, modelId: named.modelId };
    if (intake.problems.length === 0) await intake.check(facts, model);
    await this.store.describe(owner.tenantId, id, {
      endpoint: facts.endpoint,
      completion_window: facts.completionWindow,
      ...{ model: model.model, model_id: model.modelId, description: facts.description },
      metadata: facts.metadata === null ? null : JSON.stringify(facts.metadata),
      ...{ retry_interrupted: facts.retryInterrupted, results_expire_seconds: facts.resultsExpireSeconds },
      vendor_headers: facts.vendorHeaders === null ? null : JSON.stringify(facts.vendorHeaders),
      expires_at: new Date(this.parts.now() + windowMs(facts.completionWindow)),
    });
    this.has.set(call, { lines: intake.total, tools: intake.tools, vendorHeaders: facts.vendorHeaders !== null });
    return { id, model, endpoint: facts.endpoint, problems: intake.problems };
  }

  private readonly begun = new WeakSet<Call>();
  private readonly has = new WeakMap<Call, LinesOfJob>();

  /** Starts the job, after all controls have passed it. */
  async begin(call: Call, owner: JobOwner, { id, endpoint }: SubmittedJob): Promise<BatchJob | Refusal> {
    this.begun.add(call);
    const has = this.has.get(call) ?? { lines: 0, tools: false, vendorHeaders: false };
    await this.store.start(owner.tenantId, id, has.lines, this.parts.modeFor(call, endpoint, has));
    this.parts.wake();
    return this.find(owner, id);
  }

  /** Keeps a job with invalid input as a failed one. */
  async keepFailed(call: Call, owner: JobOwner, { id }: SubmittedJob, problems: readonly BatchProblem[]): Promise<BatchJob | Refusal> {
    this.begun.add(call);
    await this.store.fail(owner.tenantId, id, problems);
    return this.find(owner, id);
  }

  async find(owner: JobOwner, id: string): Promise<BatchJob | Refusal> {
    return (await this.store.find(owner, id)) ?? refuse("batch_not_found");
  }

  async cancel(owner: JobOwner, id: string): Promise<BatchJob | Refusal> {
    const cancelled = await this.store.cancel(owner, id);
    const job = await this.find(owner, id);
    if (isRefusal(job)) return job;
    this.parts.wake();
    // A repeated cancellation gets the same answer.
    return cancelled || job.ends_as === "cancelled" ? job : refuse("batch_ended");
  }

  /** Deletes an ended job and its results; refuses while it is under way. */
  async remove(owner: JobOwner, id: string): Promise<BatchJob | Refusal> {
    const job = await this.find(owner, id);
    if (isRefusal(job)) return job;
    const outcome = await this.store.removeEnded(owner, id);
    return outcome === "deleted" ? job : refuse(outcome === "held" ? "legal_hold" : "batch_under_way");
  }

  private record(call: Call, owner: JobOwner, id: string, inputFileId: string | null): NewBatchJob {
    const now = this.parts.now();
    return {
      id,
      tenant_id: owner.tenantId,
      resource_group_id: owner.groupId,
      end_user_id: owner.userId,
      api_key_id: call.row.api_key_id ?? null,
      signed_on: call.token?.signedOn === true,
      status: "validating",
      endpoint: "/v1/chat/completions",
      completion_window: "24h",
      input_file_id: inputFileId,
      request_id: call.id,
      root_task_id: call.row.root_task_id ?? null,
      ...headersToRepeat(call),
      client_ip: call.ip,
      created_at: new Date(now),
      expires_at: new Date(now + windowMs("24h")),
    };
  }
}

const UNSAID = { model: { model: null, modelId: null }, endpoint: "/v1/chat/completions" } as const;

const HOUR_MS = 3_600_000;
const WINDOW = /^([1-9][0-9]{0,2})(h|d)$/;

/** Milliseconds of a completion window (`24h`, `7d`), 1 hour to 7 days; null if the text is not one. */
export function windowMs(text: string): number;
export function windowMs(text: string, checked: true): number | null;
export function windowMs(text: string): number | null {
  const [, amount, unit] = WINDOW.exec(text) ?? [];
  const ms = Number(amount) * (unit === "d" ? 24 * HOUR_MS : HOUR_MS);
  return ms >= HOUR_MS && ms <= 168 * HOUR_MS ? ms : null;
}
