import { adminBatchJob, adminBatchJobDetail, adminBatchJobQuery } from "@gatehouse/contracts/batch";
import { listOf } from "@gatehouse/contracts/conventions";
import { type BatchJob, BatchStore } from "../../../directory/batch/batch-store.ts";
import { refuse, Refused } from "../../../kernel/errors.ts";
import { resultLines } from "../../../services/batch/results.ts";
import { batchRecordOf } from "../../batch/jobs.ts";
import { type AdminOperation, operation } from "../operation.ts";
import { idOf, listed } from "../resource.ts";
import { streamedAnswer } from "../streamed-answer.ts";

const PATH = "/v1/admin/batch-jobs";
const reading = { tag: "Batch jobs", reach: "one", method: "GET" } as const;

/** The job as plain JSON, with times as text. */
function shown(job: BatchJob, more: object): object {
  const { resource_group_id, end_user_id, api_key_id } = job;
  return JSON.parse(JSON.stringify({ ...batchRecordOf(job), resource_group_id, end_user_id, api_key_id, ...more })) as object;
}

interface JobCall {
  readonly services: { readonly directory: { readonly db: ConstructorParameters<typeof BatchStore>[0] } };
  readonly tenantId: string;
  readonly params: Readonly<Record<string, string>>;
}

const storeOf = (call: JobCall) => new BatchStore(call.services.directory.db);

async function jobOf(call: JobCall): Promise<BatchJob> {
  const job = await storeOf(call).oneOfTenant(call.tenantId, idOf(call));
  if (job === undefined) throw new Refused(refuse("not_found", "There is no such batch job."));
  return job;
}

async function* textsOf(pieces: AsyncGenerator<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const piece of pieces) yield decoder.decode(piece, { stream: true });
}

export const batchJobOperations: readonly AdminOperation[] = [
  operation({
    ...reading,
    access: "usage:read",
    path: PATH,
    summary: "List batch jobs",
    description: "Of every resource group and person of the tenant, newest first.",
    query: adminBatchJobQuery,
    answer: { status: 200, about: "One page of them", schema: listOf("jobs", adminBatchJob) },
    run: (call) =>
      listed("jobs", call, async (page) => {
        const { status, resource_group_id: groupId } = call.query;
        const { items, total } = await storeOf(call).ofTenant(call.tenantId, { status, groupId }, page);
        return { items: items.map((job) => shown(job, {})), total };
      }),
  }),
  operation({
    ...reading,
    access: "usage:read",
    path: `${PATH}/{id}`,
    textParams: ["id"],
    summary: "Read a batch job",
    description: "With its failures by kind and, if its provider runs the job, the batches submitted to it.",
    answer: { status: 200, about: "The job", schema: adminBatchJobDetail },
    async run(call) {
      const job = await jobOf(call);
      const store = storeOf(call);
      return shown(job, { errors_by_kind: await store.errorKinds(job), provider_batches: await store.providerBatches(job) });
    },
  }),
  operation({
    ...reading,
    access: "proxy:logs:read_bodies",
    path: `${PATH}/{id}/results`,
    textParams: ["id"],
    summary: "Read the results of a batch job",
    description: "In OpenAI's format, in input order; for a running job, those available. They contain the answers that callers got.",
    answer: { status: 200, about: "JSON lines", media: "application/jsonl" },
    async run(call) {
      const job = await jobOf(call);
      return streamedAnswer(textsOf(resultLines(storeOf(call), job)), "application/jsonl", `${job.id}.jsonl`);
    },
  }),
];
