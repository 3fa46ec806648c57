import type { BatchLine } from "../../directory/batch/batch-records.ts";

/** One result in OpenAI's form; the answer as its caller would have had it, on one line. */
export function resultLine(line: BatchLine): string {
  const id = JSON.stringify(line.request_id === null ? `${line.job_id}-${line.seq}` : `batch_req_${line.request_id}`);
  const response =
    line.response === null
      ? "null"
      : `{"status_code":${line.status_code},"request_id":${JSON.stringify(line.request_id)},"body":${line.response}}`;
  return `{"id":${id},"custom_id":${JSON.stringify(line.custom_id)},"response":${response},"error":${JSON.stringify(line.error)}}`;
}
