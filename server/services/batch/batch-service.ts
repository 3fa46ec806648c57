import type { BatchJob, BatchProblem, BatchStore, JobOwner, NewBatchJob } from "../../directory/batch/batch-store.ts";
import { isRefusal, type Refusal, refuse } from "../../kernel/errors.ts";
import type { Call } from "../../road/call.ts";
import type { LineForm } from "../../wire/batch/batch-line.ts";
import type { InputPiece } from "../../wire/batch/text-lines.ts";
import type { BatchEndpoint } from "./endpoints.ts";
import { Intake, type JobModel, type LinesSaidTo, type NumberedProblem } from "./intake.ts";

/** What surfaces work with. */
export type CallerJob = BatchJob;
export type InputProblem = BatchProblem;

/** Jobs of one tenant that have not ended, and submissions of one under way. */
const MOST_OPEN = 200;
const SUBMISSIONS_AT_ONCE = 4;

/** The properties of a job besides its lines. */
export interface JobFacts extends JobModel, LinesSaidTo {
  readonly completionWindow: string;
  readonly description: string | null;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly retryInterrupted: boolean;
  /** Null: with the files of the tenant. */
  readonly resultsExpireSeconds: number | null;
}

export interface Submission {
  readonly owner: JobOwner;
  readonly pieces: AsyncIterable<InputPiece>;
  /** What each line must name as its endpoint; null where it is said beside them. */
  readonly lineEndpoint: BatchEndpoint | null;
  readonly lineForm: LineForm;
  readonly inputFileId: string | null;
  /** Asked once the lines were read: it may stand behind them. */
  facts(): JobFacts | Refusal;
}

/** A job whose lines are there, and not yet to be run. */
export interface SubmittedJob {
  readonly id: string;
  /** Null where lines name several. */
  readonly model: JobModel;
  readonly endpoint: BatchEndpoint;
  readonly problems: readonly NumberedProblem[];
}

/** The properties of a job's lines that decide who can run it. */
export interface LinesOfJob {
  readonly lines: number;
  readonly tools: boolean;
  /** Whether headers of its caller go along with them. */
  readonly vendorHeaders: boolean;
}

interface BatchServiceParts {
  readonly store: BatchStore;
  readonly now: () => number;
  /** Who runs a job whose lines all go where the call may go. */
  readonly modeFor: (call: Call, endpoint: string, has: LinesOfJob) => BatchJob["mode"];
  /** Told that there is something to run. */
  readonly wake: () => void;
}

/** Batch jobs as their callers reach them. */
export class BatchService {
  readonly store: BatchStore;
  private readonly parts: BatchServiceParts;
  private readonly submitting = new Map<string, number>();

  constructor(parts: BatchServiceParts) {
    this.parts = parts;
    this.store = parts.store;
  }

  /** Reads a job's lines into the store. Unless `begin` is called, the job goes when the call has ended. */
  async submit(call: Call, submission: Submission): Promise<SubmittedJob | Refusal> {
    const { tenantId } = submission.owner;
    // A token of another issuer is looked at when it is shown, and nobody shows it for a line.
    if (call.row.api_key_id == null && call.user === null) return refuse("batch_needs_key");
    const under = this.submitting.get(tenantId) ?? 0;
    if (under >= SUBMISSIONS_AT_ONCE) return refuse("too_many_uploads", undefined, { headers: { "retry-after": "1" } });
    this.submitting.set(tenantId, under + 1);
    try {
      if ((await this.store.countOpen(tenantId)) >= MOST_OPEN)
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
    // What stands behind lines that ended the reading was never read: what is wrong with these is what there is to say.
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

  /** Every control has let the job pass: from now on it is run. */
  async begin(call: Call, owner: JobOwner, { id, endpoint }: SubmittedJob): Promise<BatchJob | Refusal> {
    this.begun.add(call);
    const has = this.has.get(call) ?? { lines: 0, tools: false, vendorHeaders: false };
    await this.store.start(owner.tenantId, id, has.lines, this.parts.modeFor(call, endpoint, has));
    this.parts.wake();
    return this.find(owner, id);
  }

  /** Keeps a job whose input is not valid, as one that failed. */
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
    // Whoever cancels twice is told the same.
    return cancelled || job.ends_as === "cancelled" ? job : refuse("batch_ended");
  }

  /** Forgets a job that has ended, and its results. */
  async remove(owner: JobOwner, id: string): Promise<BatchJob | Refusal> {
    const job = await this.find(owner, id);
    if (isRefusal(job)) return job;
    return (await this.store.removeEnded(owner, id)) ? job : refuse("batch_under_way");
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
      correlation_id: call.row.correlation_id ?? null,
      client_ip: call.ip,
      created_at: new Date(now),
      expires_at: new Date(now + windowMs("24h")),
    };
  }
}

const UNSAID = { model: { model: null, modelId: null }, endpoint: "/v1/chat/completions" } as const;

const HOUR_MS = 3_600_000;
const WINDOW = /^([1-9][0-9]{0,2})(h|d)$/;

/** From an hour to seven days; null where a text says none of them. */
export function windowMs(text: string): number;
export function windowMs(text: string, checked: true): number | null;
export function windowMs(text: string): number | null {
  const [, amount, unit] = WINDOW.exec(text) ?? [];
  const ms = Number(amount) * (unit === "d" ? 24 * HOUR_MS : HOUR_MS);
  return ms >= HOUR_MS && ms <= 168 * HOUR_MS ? ms : null;
}
