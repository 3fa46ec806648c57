import { answerOf, type BatchVendor, json, next, refused, settleState, started, type VendorBatch, wasAnswered } from "./batch-vendors.ts";
import { BUCKET_KEYS, type FakeBucket, startFakeBucket } from "./fake-bucket.ts";

/**
 * Batches of Bedrock and Vertex with their object stores, implemented from the documentation of AWS and Google alone. Input lines and
 * results are objects in a bucket.
 */

export interface BucketBatchVendor extends BatchVendor {
  readonly storeUrl: string;
  readonly objects: Map<string, string>;
}

// Bedrock

const REGION = "eu-central-1";
export const BEDROCK_KEY = `${BUCKET_KEYS.accessKeyId}:${BUCKET_KEYS.secretAccessKey}`;
export const BEDROCK_ROLE = "arn:aws:iam::123456789012:role/batches";
const STATUS = { in_progress: "InProgress", ended: "Completed", cancelled: "Stopped", expired: "Expired", failed: "Failed" } as const;

interface BedrockJob extends VendorBatch {
  readonly token: string;
  readonly input: string;
  readonly output: string;
}

function bedrockOutput(batch: VendorBatch): string {
  return batch.lines
    .map(({ id, body }, index) => {
      const question = body.messages.at(-1).content[0].text as string;
      if (!wasAnswered(batch, index, question)) return "";
      if (question === "fail")
        return `${JSON.stringify({ recordId: id, modelInput: body, error: { errorCode: 400, errorMessage: "no" } })}\n`;
      const modelOutput = {
        output: { message: { role: "assistant", content: [{ text: answerOf(question) }] } },
        ...{ stopReason: "end_turn", usage: { inputTokens: 10, outputTokens: 20, totalTokens: 30 }, metrics: { latencyMs: 1 } },
      };
      return `${JSON.stringify({ recordId: id, modelInput: body, modelOutput })}\n`;
    })
    .toReversed()
    .join("");
}

export function bedrockBatchVendor(): BucketBatchVendor {
  const store: FakeBucket = startFakeBucket("acme");
  const jobs = () => vendor.batches as BedrockJob[];
  const keyOf = (address: string) => /^s3:\/\/acme\/(.+)$/.exec(address)?.[1] ?? "";
  const wrong = (message: string) => json({ message }, 400);
  const show = (job: BedrockJob) => ({
    ...{ jobArn: job.id, jobName: job.key, modelId: job.model, status: STATUS[job.state], clientRequestToken: job.token },
    inputDataConfig: { s3InputDataConfig: { s3Uri: job.input, s3InputFormat: "JSONL" } },
    outputDataConfig: { s3OutputDataConfig: { s3Uri: job.output } },
  });
  const settle = (job: BedrockJob) => {
    const wasOver = job.state !== "in_progress";
    settleState(vendor, job);
    if (!wasOver && job.state !== "in_progress") finish(job);
  };
  const finish = (job: BedrockJob) => {
    const folder = `${keyOf(job.output)}${job.id.split("/").at(-1)}`;
    store.objects.set(`${folder}/${job.input.split("/").at(-1)}.out`, bedrockOutput(job));
    store.objects.set(`${folder}/manifest.json.out`, "{}");
  };

  async function create(request: Request): Promise<Response> {
    const no = refused(vendor);
    if (no !== null) return no;
    const asked = (await request.json()) as any;
    const before = jobs().find(({ token }) => token === asked.clientRequestToken);
    if (before !== undefined) return json({ jobArn: before.id });
    const input = asked.inputDataConfig.s3InputDataConfig.s3Uri as string;
    const text = store.objects.get(keyOf(input));
    if (text === undefined || !input.endsWith(".jsonl")) return wrong("the input is not there");
    if (asked.roleArn !== BEDROCK_ROLE || asked.modelInvocationType !== "Converse") return wrong("role or type");
    if (!/^[a-zA-Z0-9]{1,63}(-*[a-zA-Z0-9+\-.]){0,63}$/.test(asked.jobName)) return wrong("jobName");
    if (!(asked.timeoutDurationInHours >= 24 && asked.timeoutDurationInHours <= 168)) return wrong("timeoutDurationInHours");
    const lines = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    if (lines.length < 100) return wrong("the batch has too few records");
    const job: BedrockJob = {
      ...{ id: `arn:aws:bedrock:${REGION}:123456789012:model-invocation-job/${next("j")}`, key: asked.jobName, model: asked.modelId },
      ...{ endpoint: null, createdAt: Date.now(), state: "in_progress", token: asked.clientRequestToken, input },
      output: asked.outputDataConfig.s3OutputDataConfig.s3Uri,
      lines: lines.map(({ recordId, modelInput }) => ({ id: recordId, body: modelInput })),
    };
    vendor.batches.unshift(job);
    return json({ jobArn: job.id });
  }

  const vendor = started(async (_vendor, request, url) => {
    const signed = request.headers.get("authorization") ?? "";
    if (
      !signed.startsWith(`AWS4-HMAC-SHA256 Credential=${BUCKET_KEYS.accessKeyId}/`) ||
      !signed.includes(`/${REGION}/bedrock/aws4_request`)
    )
      return json({ message: "not signed" }, 403);
    if (request.method === "POST" && url.pathname === "/model-invocation-job") return create(request);
    if (request.method === "GET" && url.pathname === "/model-invocation-jobs") {
      const wanted = url.searchParams.get("nameContains") ?? "";
      return json({
        invocationJobSummaries: jobs()
          .filter(({ key }) => key?.includes(wanted))
          .map(show),
      });
    }
    const [, , name = "", action] = url.pathname.split("/");
    // Converse itself, for calls outside a batch.
    if (url.pathname.endsWith("/converse")) {
      const body = (await request.json()) as any;
      const content = [{ text: answerOf(body.messages.at(-1).content[0].text) }];
      return json({
        ...{ output: { message: { role: "assistant", content } }, stopReason: "end_turn" },
        usage: { inputTokens: 10, outputTokens: 20, totalTokens: 30 },
      });
    }
    const job = jobs().find(({ id }) => id === decodeURIComponent(name));
    if (job === undefined) return json({ message: "no job" }, 404);
    if (action === "stop") {
      job.state = "cancelled";
      finish(job);
      return new Response(null);
    }
    settle(job);
    return json(show(job));
  });
  const { stop } = vendor;
  return Object.assign(vendor, {
    storeUrl: store.endpoint,
    objects: store.objects,
    async stop() {
      await Promise.all([stop(), store.stop()]);
    },
  });
}

// Vertex

export const VERTEX_TOKEN = "ya29.token-of-the-vendor";
const STATES = { in_progress: "RUNNING", ended: "SUCCEEDED", cancelled: "CANCELLED", expired: "EXPIRED", failed: "FAILED" } as const;
const LISTED = 2;

/** Google Cloud Storage's JSON API, on the same server as Vertex. */
export async function gcsAnswer(objects: Map<string, string>, request: Request, url: URL): Promise<Response | null> {
  if (request.method === "POST" && url.pathname === "/upload/storage/v1/b/acme/o") {
    if (url.searchParams.get("uploadType") !== "media") return json({ error: { code: 400, message: "uploadType" } }, 400);
    const name = url.searchParams.get("name") ?? "";
    objects.set(name, await request.text());
    return json({ kind: "storage#object", bucket: "acme", name });
  }
  const [, , , , bucket, , object, more] = url.pathname.split("/");
  if (!url.pathname.startsWith("/storage/v1/b/")) return null;
  if (bucket !== "acme" || more !== undefined) return json({ error: { code: 404, message: "no bucket" } }, 404);
  if (object === undefined) {
    const all = [...objects.keys()].toSorted().filter((name) => name.startsWith(url.searchParams.get("prefix") ?? ""));
    const left = all.filter((name) => name > (url.searchParams.get("pageToken") ?? ""));
    const items = left.slice(0, LISTED).map((name) => ({ name }));
    return json({ kind: "storage#objects", items, ...(left.length > LISTED && { nextPageToken: items.at(-1)?.name }) });
  }
  const name = decodeURIComponent(object);
  const held = objects.get(name);
  if (held === undefined) return json({ error: { code: 404, message: "no object" } }, 404);
  if (request.method === "DELETE") {
    objects.delete(name);
    return new Response(null, { status: 204 });
  }
  return url.searchParams.get("alt") === "media" ? new Response(held) : json({ name });
}

interface VertexJob extends VendorBatch {
  readonly asked: any;
  readonly folder: string;
}

function vertexLine(job: VertexJob, index: number): string {
  const { id, body } = job.lines[index] as VertexJob["lines"][number];
  const isClaude = job.model?.includes("anthropic") === true;
  const content = isClaude ? body.messages.at(-1).content : body.contents.at(-1).parts;
  const question = (typeof content === "string" ? content : content[0].text) as string;
  if (!wasAnswered(job, index, question)) return "";
  const named = isClaude ? { custom_id: id, request: body } : { request: body };
  if (question === "fail") {
    const error = { code: 400, message: "no", status: "INVALID_ARGUMENT" };
    return `${JSON.stringify({ ...named, response: {}, status: `Bad Request: ${JSON.stringify({ error })}` })}\n`;
  }
  const text = answerOf(question);
  const response = isClaude
    ? {
        ...{ id: `msg_${index}`, type: "message", role: "assistant", model: job.model, stop_reason: "end_turn", stop_sequence: null },
        ...{ content: [{ type: "text", text }], usage: { input_tokens: 10, output_tokens: 20 } },
      }
    : {
        candidates: [{ content: { role: "model", parts: [{ text }] }, finishReason: "STOP" }],
        usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 20, totalTokenCount: 30 },
      };
  return `${JSON.stringify({ status: "", processed_time: new Date().toISOString(), ...named, response })}\n`;
}

export function vertexBatchVendor(): BucketBatchVendor {
  const objects = new Map<string, string>();
  const jobs = () => vendor.batches as VertexJob[];
  const keyOf = (address: string) => /^gs:\/\/acme\/(.+)$/.exec(address)?.[1] ?? "";
  const base = "/v1/projects/p/locations/europe-west4/batchPredictionJobs";
  const over = (job: VertexJob) => job.state !== "in_progress";
  const show = (job: VertexJob) => ({
    ...{ name: job.id, ...job.asked, state: `JOB_STATE_${STATES[job.state]}` },
    ...(over(job) ? { outputInfo: { gcsOutputDirectory: `gs://acme/${job.folder}` } } : {}),
  });
  const finish = (job: VertexJob) => {
    const lines = job.lines.map((_, index) => vertexLine(job, index)).toReversed();
    // Results are in several files, in no particular order.
    objects.set(`${job.folder}/000000000000.jsonl`, lines.slice(0, 2).join(""));
    objects.set(`${job.folder}/000000000001.jsonl`, lines.slice(2).join(""));
  };

  async function create(request: Request): Promise<Response> {
    const no = refused(vendor);
    if (no !== null) return no;
    const asked = (await request.json()) as any;
    const text = objects.get(keyOf(asked.inputConfig.gcsSource.uris[0]));
    const wrong = (message: string) => json({ error: { code: 400, message, status: "INVALID_ARGUMENT" } }, 400);
    if (text === undefined) return wrong("the input is not there");
    if (asked.inputConfig.instancesFormat !== "jsonl" || asked.outputConfig.predictionsFormat !== "jsonl") return wrong("format");
    const lines = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const isClaude = asked.model.startsWith("publishers/anthropic/models/");
    if (!isClaude && !asked.model.startsWith("publishers/google/models/")) return wrong("model");
    if (isClaude && lines.some(({ request: one }) => one.anthropic_version !== "vertex-2023-10-16" || one.model !== undefined))
      return wrong("a line is none of Claude's");
    for (const { request: one } of lines)
      for (const label of Object.values(one.labels ?? {})) if (!/^[a-z0-9_-]{0,63}$/.test(String(label))) return wrong("a label is none");
    const id = next("b");
    const job: VertexJob = {
      ...{
        id: `projects/123/locations/europe-west4/batchPredictionJobs/${id}`,
        key: asked.displayName,
        model: asked.model,
        endpoint: null,
      },
      lines: lines.map((line) => ({ id: line.custom_id ?? null, body: line.request })),
      ...{ createdAt: Date.now(), state: "in_progress", asked },
      folder: `${keyOf(asked.outputConfig.gcsDestination.outputUriPrefix)}/prediction-model-${id}`,
    };
    vendor.batches.unshift(job);
    return json(show(job));
  }

  const vendor = started(async (_vendor, request, url) => {
    if (request.headers.get("authorization") !== `Bearer ${VERTEX_TOKEN}`)
      return json({ error: { code: 401, message: "no token", status: "UNAUTHENTICATED" } }, 401);
    const stored = await gcsAnswer(objects, request, url);
    if (stored !== null) return stored;
    if (url.pathname === base && request.method === "POST") return create(request);
    if (url.pathname === base) {
      const name = /^display_name="(.*)"$/.exec(url.searchParams.get("filter") ?? "")?.[1];
      return json({
        batchPredictionJobs: jobs()
          .filter(({ key }) => key === name)
          .map(show),
      });
    }
    const job = jobs().find(({ id }) => `/v1/${id}` === url.pathname.replace(/:cancel$/, ""));
    if (job === undefined) return json({ error: { code: 404, message: "no job", status: "NOT_FOUND" } }, 404);
    if (url.pathname.endsWith(":cancel")) {
      job.state = "cancelled";
      finish(job);
      return json({});
    }
    const wasOver = over(job);
    settleState(vendor, job);
    if (!wasOver && over(job)) finish(job);
    return json(show(job));
  });
  return Object.assign(vendor, { storeUrl: vendor.baseUrl, objects });
}
