import type { BatchJob, BatchLine, BatchStore } from "../../directory/batch/batch-store.ts";

const LINES_READ = 50;
const encoder = new TextEncoder();

/** Errors of lines that were not run before their job ended. */
const UNRUN: Readonly<Record<string, { readonly code: string; readonly message: string }>> = {
  cancelled: { code: "batch_cancelled", message: "The job was cancelled before this line was run." },
  expired: { code: "batch_expired", message: "The completion window ended before this line was run." },
};

/** The error of a line; null if it was answered. */
export function errorOfLine(
  job: Pick<BatchJob, "ends_as" | "error">,
  line: BatchLine,
): { code: string | null; message: string | null } | null {
  if (line.state === 2) return null;
  if (line.state === 3) return { code: line.error_code, message: line.error_message };
  return UNRUN[job.ends_as ?? ""] ?? job.error ?? { code: "batch_failed", message: "The job ended before this line was run." };
}

/** One line of results, in OpenAI's format. */
export function resultLineOf(job: Pick<BatchJob, "ends_as" | "error">, line: BatchLine): string {
  const error = errorOfLine(job, line);
  const response =
    line.status_code === null || line.result === null
      ? "null"
      : `{"status_code":${line.status_code},"request_id":${JSON.stringify(line.request_id)},"body":${line.result}}`;
  const named = `"id":${JSON.stringify(`batch_req_${lineName(line)}`)},"custom_id":${JSON.stringify(line.custom_id)}`;
  return `{${named},"response":${response},"error":${JSON.stringify(error)}}`;
}

function lineName({ job_id: jobId, line }: BatchLine): string {
  return `${jobId.slice("batch_".length)}_${line}`;
}

/** Whether lines that were not run have ended as well. */
export function isOver({ ended_at: endedAt, ends_as: endsAs, status }: BatchJob): boolean {
  return endedAt !== null || (endsAs !== null && status !== "in_progress");
}

/** Line states: answered; and failed or not run. */
export const ANSWERED: readonly number[] = [2];
export const UNANSWERED: readonly number[] = [0, 3];
const FINISHED = [2, 3];

/** Results in input order, as JSON lines. While the job is under way, those that exist. */
export async function* resultLines(
  store: Pick<BatchStore, "linesAfter">,
  job: BatchJob,
  states: readonly number[] = isOver(job) ? [...ANSWERED, ...UNANSWERED] : FINISHED,
  written: typeof resultLineOf = resultLineOf,
): AsyncGenerator<Uint8Array> {
  for (let after = 0; ;) {
    const lines = await store.linesAfter(job, after, LINES_READ, states);
    const last = lines.at(-1);
    if (last === undefined) return;
    after = last.line;
    yield encoder.encode(lines.map((line) => `${written(job, line)}\n`).join(""));
  }
}

/** One page of results as a JSON document that ends with the members of `counts`; read while it is sent, because it may be large. */
export async function* resultPage(
  store: Pick<BatchStore, "firstLinesOf">,
  job: BatchJob,
  lines: readonly number[],
  counts: Readonly<Record<"total" | "page" | "page_size", number>>,
): AsyncGenerator<Uint8Array> {
  yield encoder.encode('{"results":[');
  for (let left = lines, first = true; left.length > 0; first = false) {
    const read = await store.firstLinesOf(job, left);
    const last = read.at(-1);
    if (last === undefined) break;
    left = left.filter((line) => line > last.line);
    yield encoder.encode(`${first ? "" : ","}${read.map((line) => resultLineOf(job, line)).join(",")}`);
  }
  yield encoder.encode(`],${JSON.stringify(counts).slice(1)}`);
}
