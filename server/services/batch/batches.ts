import { isRefusal, reasonOf, type Refusal, refuse } from "../../kernel/errors.ts";
import { ulid } from "../../kernel/ids.ts";
import { fileOwner } from "../../directory/files/stored-files.ts";
import type { Call } from "../../road/call.ts";
import {
  type BatchJob,
  type BatchLine,
  type BatchRecords,
  type LineToAdd,
  type NewBatchJob,
  type WrongLine,
  WrongLines,
} from "../../directory/batch/batch-records.ts";
import type { BatchEndpoint } from "./batch-endpoints.ts";
import type { BatchParts } from "./batch-parts.ts";
import { type JobModel, LineCheck } from "./line-check.ts";
import { readLines, UnreadableLine } from "./read-lines.ts";

/** A job, as surfaces tell of it. */
export type TakenJob = BatchJob;

/** What is said of a job beside its lines. */
export interface JobFacts {
  readonly endpoint: BatchEndpoint;
  /** As people know it. */
  readonly modelName: string;
  readonly model: JobModel;
  readonly completionWindow: string;
  readonly description: string | null;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly retryInterrupted: boolean;
}

/** The lines themselves, or the file they stand in. */
export type JobInput = { readonly lines: readonly unknown[] } | { readonly fileId: string };

const MOST_JOBS = 200;
const WINDOW = /^(\d{1,3})([hd])$/;
const HOUR_MS = 3_600_000;

/** Milliseconds of a window from `1h` to `7d`; null for anything else. */
export function windowMs(text: string): number | null {
  const [, count = "", unit] = WINDOW.exec(text) ?? [];
  const ms = Number(count) * (unit === "d" ? 24 * HOUR_MS : HOUR_MS);
  return count !== "" && ms >= HOUR_MS && ms <= 7 * 24 * HOUR_MS ? ms : null;
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Jobs of callers: taken, looked at, cancelled. Whoever carries them out is told by `wake`. */
export class Batches {
  private readonly parts: BatchParts;
  private readonly wake: () => void;

  constructor(parts: BatchParts, wake: () => void) {
    this.parts = parts;
    this.wake = wake;
  }

  /**
   * Takes a job whole or not at all. Lines sent with it that are wrong refuse it, naming each; a file whose lines are wrong is
   * a job that failed and says so, as OpenAI's clients expect it.
   */
  async submit(call: Call, facts: JobFacts, input: JobInput): Promise<BatchJob | Refusal> {
    const made = newJob(call, facts, "fileId" in input ? input.fileId : null, this.parts.clock.now());
    if (isRefusal(made)) return made;
    const check = new LineCheck(facts.endpoint, facts.model, "fileId" in input);
    try {
      const { records } = this.parts;
      if ((await records.underWay(made.tenant_id)) >= MOST_JOBS) return refuse("too_many_batch_jobs");
      const lines = "fileId" in input ? await this.linesOfFile(call, input.fileId, check) : linesOf(input.lines, check);
      if (isRefusal(lines)) return lines;
      const job = await records.add(made, lines, check.problems);
      this.wake();
      return job;
    } catch (error) {
      if (error instanceof WrongLines)
        return "fileId" in input ? await this.parts.records.addFailed(made, error.problems) : invalid(error.problems);
      this.parts.log.warn("batch_not_taken", { call_id: call.id, error: error as Error });
      return unavailable(error);
    }
  }

  async find(call: Call, id: string): Promise<BatchJob | Refusal> {
    return (await this.parts.records.find(ownerOf(call), id)) ?? refuse("batch_job_not_found");
  }

  list(call: Call, filter: { readonly status?: string | undefined }, page: Parameters<BatchRecords["list"]>[2]) {
    return this.parts.records.list(ownerOf(call), filter, page);
  }

  /** Lines that are not begun end; those under way are waited for, and what is done stays. */
  async cancel(call: Call, id: string): Promise<BatchJob | Refusal> {
    const job = await this.find(call, id);
    if (isRefusal(job)) return job;
    if (job.status === "cancelling") return job;
    if (job.status !== "in_progress") return refuse("batch_job_over", `The batch job is ${job.status}, so there is nothing to cancel.`);
    await this.parts.records.cancel(job);
    this.wake();
    return this.find(call, id);
  }

  /** What has ended, in the order of the input. */
  results(job: BatchJob, page: Parameters<BatchRecords["finished"]>[1]): Promise<BatchLine[]> {
    return this.parts.records.finished(job, page);
  }

  /** The first line of a file, for who has to know the model before the job is governed; null where it has none. */
  async firstLine(call: Call, fileId: string): Promise<string | null | Refusal> {
    const stream = await this.openFile(call, fileId);
    if (isRefusal(stream)) return stream;
    try {
      for await (const { text } of readLines(stream)) return text;
    } catch (error) {
      if (!(error instanceof UnreadableLine)) return unavailable(error);
    }
    return null;
  }

  private async openFile(call: Call, id: string): Promise<ReadableStream<Uint8Array> | Refusal> {
    const file = await this.parts.files.find(ownerOf(call), id);
    return isRefusal(file) ? file : this.parts.files.open(file, 0, file.size_bytes);
  }

  private async linesOfFile(call: Call, id: string, check: LineCheck): Promise<AsyncGenerator<LineToAdd> | Refusal> {
    const stream = await this.openFile(call, id);
    return isRefusal(stream) ? stream : checkedLines(stream, check);
  }
}

/** As whom a call reaches jobs. Throws on a call that was not admitted to a group. */
export function ownerOf({ identity, scope }: Call) {
  if (identity === null || scope === null) throw new Error("a call to batch jobs was not admitted");
  return fileOwner(identity, scope);
}

function newJob(call: Call, facts: JobFacts, inputFileId: string | null, now: number): NewBatchJob | Refusal {
  const { row } = call;
  const owner = ownerOf(call);
  // Of a workload with a token of its own nothing is known once that is over.
  if (row.api_key_id == null && owner.userId === null)
    return refuse("forbidden", "Batch jobs are carried out for an API key or a person: a token of an identity provider cannot make one.");
  const at = new Date(now);
  return {
    id: `batch_${ulid(now)}`,
    tenant_id: owner.tenantId,
    resource_group_id: owner.groupId,
    end_user_id: owner.userId,
    api_key_id: row.api_key_id ?? null,
    credential_name: call.identity?.credentialName ?? "",
    endpoint: facts.endpoint,
    model: facts.modelName,
    completion_window: facts.completionWindow,
    description: facts.description,
    metadata: facts.metadata === null ? null : JSON.stringify(facts.metadata),
    retry_interrupted: facts.retryInterrupted,
    status: "in_progress",
    input_file_id: inputFileId,
    root_task_id: String(row.root_task_id),
    run_id: call.headers.get("x-gw-run-id") === null ? null : (call.answerHeaders["x-gw-run-id"] ?? null),
    correlation_id: String(row.correlation_id),
    submitted_by_call: call.id,
    client_ip: call.ip,
    created_at: at,
    in_progress_at: at,
    updated_at: at,
    expires_at: new Date(now + (windowMs(facts.completionWindow) ?? HOUR_MS)),
  };
}

async function* linesOf(values: readonly unknown[], check: LineCheck): AsyncGenerator<LineToAdd> {
  for (const [at, value] of values.entries()) {
    if (at % 64 === 63) await nextTurn();
    const line = check.read(value, at + 1);
    if (check.isFull) return;
    if (line !== null) yield line;
  }
}

async function* checkedLines(stream: ReadableStream<Uint8Array>, check: LineCheck): AsyncGenerator<LineToAdd> {
  try {
    for await (const { line, text } of readLines(stream)) {
      if (line % 64 === 63) await nextTurn();
      let value: unknown;
      try {
        value = JSON.parse(text);
      } catch {
        check.problems.push({ line, param: null, code: "invalid_json_line", message: "is not JSON" });
        continue;
      }
      const read = check.read(value, line);
      if (check.isFull) return;
      if (read !== null) yield read;
    }
  } catch (error) {
    if (!(error instanceof UnreadableLine)) throw error;
    check.problems.push({ line: error.line, param: null, code: "invalid_line", message: error.message });
  }
}

function invalid(problems: readonly WrongLine[]): Refusal {
  const fields = problems.map(({ line, param, message }) => ({
    field: `requests[${line - 1}]${param === null ? "" : `.${param}`}`,
    message,
  }));
  return refuse("batch_invalid", undefined, { fields });
}

const unavailable = (error: unknown): Refusal =>
  refuse("batch_unavailable", undefined, { reason: reasonOf(error), headers: { "retry-after": "1" } });
