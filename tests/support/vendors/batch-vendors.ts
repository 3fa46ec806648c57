/**
 * The batch APIs of OpenAI, Anthropic and Google, implemented from their documentation alone. A batch stays in progress until the test lets
 * it end.
 */

export interface VendorBatch {
  readonly id: string;
  readonly key: string | null;
  readonly model: string | null;
  readonly endpoint: string | null;
  readonly lines: readonly { readonly id: string; readonly body: any }[];
  readonly createdAt: number;
  /** Headers passed besides the lines, for vendors that support that. */
  readonly headers?: Readonly<Record<string, string | null>>;
  state: "in_progress" | "ended" | "cancelled" | "expired" | "failed";
}

export interface BatchVendor {
  readonly baseUrl: string;
  readonly batches: VendorBatch[];
  /** Requests received, as method and path. */
  readonly requests: string[];
  /** Stored files that were not deleted, by name. */
  readonly files: Map<string, string>;
  /** Whether batches end by themselves at the next poll. */
  endsAtOnce: boolean;
  /** Creates the next batch, but answers 502. */
  breakNext: boolean;
  /** Status to answer the next batch creation with. */
  refuseNext: number | null;
  /** Replaces the next results: a file of OpenAI or Anthropic, a batch of Google. */
  resultsInstead: ((held: string) => BodyInit) | null;
  stop(): Promise<void>;
}

/** The answer to a line: its last question in capitals; "fail" is refused, and "late" is never answered in time. */
export const answerOf = (question: string): string => question.toUpperCase();

interface Spoken {
  lineOutput(line: VendorBatch["lines"][number], batch: VendorBatch): unknown;
}

export function started(handle: (vendor: BatchVendor, request: Request, url: URL) => Promise<Response> | Response): BatchVendor {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 60,
    async fetch(request) {
      const url = new URL(request.url);
      vendor.requests.push(`${request.method} ${url.pathname}`);
      const answer = await handle(vendor, request, url);
      if (
        request.method === "POST" &&
        vendor.breakNext &&
        /batches$|:batchGenerateContent$|:asyncBatchEmbedContent$|PredictionJobs$|invocation-job$/.test(url.pathname) &&
        answer.ok
      ) {
        vendor.breakNext = false;
        return new Response("bad gateway", { status: 502 });
      }
      return answer;
    },
  });
  const vendor: BatchVendor = {
    baseUrl: `http://127.0.0.1:${server.port}`,
    batches: [],
    requests: [],
    files: new Map(),
    endsAtOnce: true,
    breakNext: false,
    refuseNext: null,
    resultsInstead: null,
    async stop() {
      await server.stop(true);
    },
  };
  return vendor;
}

let made = 0;
export const next = (prefix: string) => `${prefix}${(++made).toString(36)}x${Date.now().toString(36)}`;
export const json = (value: unknown, status = 200) => Response.json(value, { status });
const jsonl = (all: unknown[]) => all.map((one) => `${JSON.stringify(one)}\n`).join("");
/** Advances a batch's state as time would. */
export const settleState = (vendor: BatchVendor, batch: VendorBatch) => {
  if (batch.state === "in_progress" && vendor.endsAtOnce) batch.state = "ended";
};
const told = (vendor: BatchVendor, held: string) => new Response(vendor.resultsInstead?.(held) ?? held);
export function refused(vendor: BatchVendor): Response | null {
  const status = vendor.refuseNext;
  vendor.refuseNext = null;
  return status === null ? null : json({ error: { message: `the vendor says ${status}`, type: "x" } }, status);
}
/** In a batch that was cut short, every other line was answered. */
export const wasAnswered = (batch: VendorBatch, index: number, question: string) =>
  question !== "late" && (batch.state === "ended" || index % 2 === 0);

// OpenAI

const questionOfOpenai = (body: any): string =>
  body.messages?.at(-1).content ?? (typeof body.input === "string" ? body.input : (body.prompt ?? JSON.stringify(body.input)));

function openaiAnswer(endpoint: string, body: any): unknown {
  const said = answerOf(questionOfOpenai(body));
  const usage = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 };
  if (endpoint === "/v1/embeddings") {
    const inputs = Array.isArray(body.input) ? body.input : [body.input];
    return {
      object: "list",
      model: body.model,
      data: inputs.map((_: unknown, index: number) => ({ object: "embedding", index, embedding: [0.25, -0.5] })),
      usage: { prompt_tokens: 10, total_tokens: 10 },
    };
  }
  if (endpoint === "/v1/moderations")
    return { id: "modr-1", model: body.model, results: [{ flagged: false, categories: {}, category_scores: {} }] };
  if (endpoint === "/v1/completions")
    return {
      id: "cmpl-1",
      object: "text_completion",
      created: 1,
      model: body.model,
      choices: [{ text: said, index: 0, logprobs: null, finish_reason: "stop" }],
      usage,
    };
  if (endpoint === "/v1/responses")
    return {
      ...{ id: "resp_1", object: "response", created_at: 1, status: "completed", model: body.model, error: null, incomplete_details: null },
      output: [
        {
          id: "msg_1",
          type: "message",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: said, annotations: [] }],
        },
      ],
      usage: {
        input_tokens: 10,
        output_tokens: 20,
        total_tokens: 30,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens_details: { reasoning_tokens: 0 },
      },
    };
  return {
    ...{ id: "chatcmpl-1", object: "chat.completion", created: 1, model: body.model, usage },
    choices: [{ index: 0, message: { role: "assistant", content: said }, finish_reason: "stop" }],
  };
}

function openaiFiles(batch: VendorBatch): { output: unknown[]; error: unknown[] } {
  const [output, error]: [unknown[], unknown[]] = [[], []];
  for (const [index, { id, body }] of batch.lines.entries()) {
    const question = questionOfOpenai(body);
    const named = { id: `batch_req_${index}`, custom_id: id };
    if (!wasAnswered(batch, index, question)) {
      const code = batch.state === "cancelled" ? "batch_cancelled" : "batch_expired";
      error.push({ ...named, response: null, error: { code, message: "This request could not be executed." } });
    } else if (question === "fail")
      error.push({
        ...named,
        response: {
          status_code: 400,
          request_id: "r",
          body: { error: { message: "no", type: "invalid_request_error", code: null, param: null } },
        },
        error: null,
      });
    else
      output.push({
        ...named,
        response: { status_code: 200, request_id: `req_${index}`, body: openaiAnswer(batch.endpoint as string, body) },
        error: null,
      });
  }
  // Results come in no particular order.
  return { output: output.toReversed(), error };
}

export function openaiBatchVendor(): BatchVendor {
  const show = (vendor: BatchVendor, batch: VendorBatch) => {
    const { state } = batch;
    const status = state === "ended" ? "completed" : state;
    const over = state !== "in_progress" && state !== "failed";
    const { output, error } = openaiFiles(batch);
    if (over && !vendor.files.has(`out-${batch.id}`) && !vendor.files.has(`gone-${batch.id}`)) {
      vendor.files.set(`out-${batch.id}`, output.map((one) => JSON.stringify(one)).join("\n"));
      vendor.files.set(`err-${batch.id}`, error.map((one) => JSON.stringify(one)).join("\n"));
    }
    return {
      ...{ id: batch.id, object: "batch", endpoint: batch.endpoint, status, completion_window: "24h", created_at: batch.createdAt },
      ...{ input_file_id: `in-${batch.id}`, output_file_id: over && output.length > 0 ? `out-${batch.id}` : null },
      error_file_id: over && error.length > 0 ? `err-${batch.id}` : null,
      errors:
        state === "failed"
          ? { object: "list", data: [{ code: "invalid_json_line", message: "a line is wrong", line: 1, param: null }] }
          : null,
      request_counts: { total: batch.lines.length, completed: over ? output.length : 0, failed: over ? error.length : 0 },
      metadata: batch.key === null ? null : { gatehouse_batch: batch.key },
    };
  };
  return started(async (vendor, request, url) => {
    const path = url.pathname.replace(/^\/v1/, "");
    if (request.headers.get("authorization") === null) return json({ error: { message: "no key" } }, 401);
    if (request.method === "POST" && path === "/files") {
      const form = await request.formData();
      if (form.get("purpose") !== "batch") return json({ error: { message: "purpose" } }, 400);
      const id = next("file-");
      vendor.files.set(id, await (form.get("file") as Blob).text());
      return json({ id, object: "file", purpose: "batch" });
    }
    if (request.method === "POST" && path === "/batches") {
      const no = refused(vendor);
      if (no !== null) return no;
      const body = (await request.json()) as any;
      const input = vendor.files.get(body.input_file_id);
      if (input === undefined || body.completion_window !== "24h") return json({ error: { message: "bad batch" } }, 400);
      const lines = input
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
      if (lines.some(({ url: at, method }) => at !== body.endpoint || method !== "POST"))
        return json({ error: { message: "bad line" } }, 400);
      const id = next("batch_");
      vendor.files.delete(body.input_file_id);
      vendor.files.set(`in-${id}`, input);
      const batch: VendorBatch = {
        ...{ id, key: body.metadata?.gatehouse_batch ?? null, model: lines[0].body.model, endpoint: body.endpoint },
        lines: lines.map(({ custom_id, body: asked }) => ({ id: custom_id, body: asked })),
        ...{ createdAt: Math.floor(Date.now() / 1000), state: "in_progress" },
      };
      vendor.batches.unshift(batch);
      return json(show(vendor, batch));
    }
    if (request.method === "GET" && path === "/batches") {
      const from = url.searchParams.get("after");
      const at = from === null ? 0 : vendor.batches.findIndex(({ id }) => id === from) + 1;
      const limit = Number(url.searchParams.get("limit") ?? 20);
      const data = vendor.batches.slice(at, at + limit);
      return json({
        object: "list",
        data: data.map((one) => (settleState(vendor, one), show(vendor, one))),
        has_more: at + limit < vendor.batches.length,
      });
    }
    const [, kind, id, action] = path.split("/") as [string, string, string, string | undefined];
    if (kind === "files" && request.method === "DELETE") {
      vendor.files.delete(id);
      vendor.files.set(`gone-${id.slice(id.indexOf("-") + 1)}`, "");
      return json({ id, deleted: true });
    }
    if (kind === "files" && action === "content") {
      const held = vendor.files.get(id);
      return held === undefined ? json({ error: { message: "no file" } }, 404) : told(vendor, held);
    }
    const batch = vendor.batches.find((one) => one.id === id);
    if (batch === undefined) return json({ error: { message: "no batch" } }, 404);
    if (action === "cancel") {
      batch.state = "cancelled";
      return json(show(vendor, batch));
    }
    settleState(vendor, batch);
    return json(show(vendor, batch));
  });
}

// Anthropic

const ANTHROPIC_ID = /^[a-zA-Z0-9_-]{1,64}$/;

const anthropicOutput: Spoken["lineOutput"] = ({ id, body }, batch) => {
  const index = batch.lines.findIndex((line) => line.id === id);
  const content = body.messages.at(-1).content;
  const question = typeof content === "string" ? content : content[0].text;
  if (!wasAnswered(batch, index, question))
    return { custom_id: id, result: { type: batch.state === "cancelled" ? "canceled" : "expired" } };
  if (question === "fail")
    return {
      custom_id: id,
      result: { type: "errored", error: { type: "error", error: { type: "invalid_request_error", message: "no" }, request_id: null } },
    };
  const message = {
    ...{ id: `msg_${index}`, type: "message", role: "assistant", model: body.model, stop_reason: "end_turn", stop_sequence: null },
    content: [{ type: "text", text: answerOf(question) }],
    usage: { input_tokens: 10, output_tokens: 20, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
  };
  return { custom_id: id, result: { type: "succeeded", message } };
};

export function anthropicBatchVendor(): BatchVendor {
  const show = (vendor: BatchVendor, batch: VendorBatch) => {
    const over = batch.state !== "in_progress";
    const results = over ? batch.lines.map((line) => (anthropicOutput(line, batch) as any).result.type as string) : [];
    const count = (type: string) => results.filter((one) => one === type).length;
    return {
      ...{
        id: batch.id,
        type: "message_batch",
        processing_status: over ? "ended" : "in_progress",
        created_at: new Date(batch.createdAt).toISOString(),
      },
      request_counts: {
        processing: over ? 0 : batch.lines.length,
        ...{ succeeded: count("succeeded"), errored: count("errored"), canceled: count("canceled"), expired: count("expired") },
      },
      results_url: over ? `${vendor.baseUrl}/v1/messages/batches/${batch.id}/results` : null,
    };
  };
  return started(async (vendor, request, url) => {
    if (request.headers.get("anthropic-version") === null || request.headers.get("x-api-key") === null)
      return json({ type: "error", error: { type: "authentication_error", message: "headers" } }, 401);
    const path = url.pathname.replace(/^\/v1\/messages\/batches/, "");
    if (request.method === "POST" && path === "") {
      const no = refused(vendor);
      if (no !== null) return no;
      const { requests } = (await request.json()) as any;
      for (const { custom_id, params } of requests)
        if (!ANTHROPIC_ID.test(custom_id) || params.stream !== undefined || !(params.max_tokens > 0))
          return json({ type: "error", error: { type: "invalid_request_error", message: "a request is wrong" } }, 400);
      const batch: VendorBatch = {
        ...{ id: next("msgbatch_"), key: null, model: requests[0].params.model, endpoint: null },
        lines: requests.map(({ custom_id, params }: any) => ({ id: custom_id, body: params })),
        headers: { version: request.headers.get("anthropic-version"), betas: request.headers.get("anthropic-beta") },
        ...{ createdAt: Date.now(), state: "in_progress" },
      };
      vendor.batches.unshift(batch);
      return json(show(vendor, batch));
    }
    if (request.method === "GET" && path === "") {
      const from = url.searchParams.get("after_id");
      const at = from === null ? 0 : vendor.batches.findIndex(({ id }) => id === from) + 1;
      const limit = Number(url.searchParams.get("limit") ?? 20);
      const data = vendor.batches.slice(at, at + limit);
      return json({ data: data.map((one) => (settleState(vendor, one), show(vendor, one))), has_more: at + limit < vendor.batches.length });
    }
    const [, id, action] = path.split("/");
    const batch = vendor.batches.find((one) => one.id === id);
    if (batch === undefined) return json({ type: "error", error: { type: "not_found_error", message: "no batch" } }, 404);
    if (action === "cancel") batch.state = "cancelled";
    else if (action === "results")
      return batch.state === "in_progress"
        ? json({ type: "error" }, 404)
        : told(vendor, jsonl(batch.lines.map((line) => anthropicOutput(line, batch)).toReversed()));
    else settleState(vendor, batch);
    return json(show(vendor, batch));
  });
}

// Google

export function geminiBatchVendor(): BatchVendor {
  const stateName = { in_progress: "RUNNING", ended: "SUCCEEDED", cancelled: "CANCELLED", expired: "EXPIRED", failed: "FAILED" } as const;
  const show = (batch: VendorBatch) => {
    const over = batch.state !== "in_progress";
    const embeds = batch.endpoint === "asyncBatchEmbedContent";
    const inlined: unknown[] = batch.lines.flatMap(({ id, body }, index): unknown[] => {
      if (embeds) {
        const text = body.content.parts[0].text as string;
        const error = { code: 3, message: "no", status: "INVALID_ARGUMENT" };
        return [{ metadata: { key: id }, ...(text === "fail" ? { error } : { response: { embedding: { values: [text.length, 0.5] } } }) }];
      }
      const question = body.contents.at(-1).parts[0].text as string;
      if (!wasAnswered(batch, index, question)) return [];
      const metadata = { key: id };
      if (question === "fail") return [{ metadata, error: { code: 3, message: "no", status: "INVALID_ARGUMENT" } }];
      const response = {
        candidates: [{ content: { role: "model", parts: [{ text: answerOf(question) }] }, finishReason: "STOP", index: 0 }],
        usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 20, totalTokenCount: 30 },
        modelVersion: batch.model,
      };
      return [{ metadata, response }];
    });
    return {
      name: batch.id,
      metadata: {
        ...{
          "@type": "type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch",
          name: batch.id,
          displayName: batch.key,
        },
        ...{
          state: `BATCH_STATE_${stateName[batch.state]}`,
          ...(over ? { output: { [embeds ? "inlinedEmbedContentResponses" : "inlinedResponses"]: { inlinedResponses: inlined } } } : {}),
        },
      },
      ...(over ? { done: true } : {}),
    };
  };
  return started(async (vendor, request, url) => {
    if (request.headers.get("x-goog-api-key") === null)
      return json({ error: { code: 403, message: "no key", status: "PERMISSION_DENIED" } }, 403);
    const path = url.pathname.replace(/^\/v1beta\//, "");
    const asked = /^models\/(.+):(batchGenerateContent|asyncBatchEmbedContent)$/.exec(path);
    if (request.method === "POST" && asked !== null) {
      const no = refused(vendor);
      if (no !== null) return no;
      const { batch: given } = (await request.json()) as any;
      const batch: VendorBatch = {
        ...{ id: `batches/${next("b")}`, key: given.displayName ?? null, model: asked[1] ?? null, endpoint: asked[2] ?? null },
        lines: given.inputConfig.requests.requests.map(({ request: body, metadata }: any) => ({ id: metadata.key, body })),
        ...{ createdAt: Date.now(), state: "in_progress" },
      };
      vendor.batches.unshift(batch);
      return json(show(batch));
    }
    if (request.method === "GET" && path === "batches") return json({ operations: vendor.batches.map(show) });
    const batch = vendor.batches.find(({ id }) => id === path.replace(/:cancel$/, ""));
    if (batch === undefined) return json({ error: { code: 404, message: "no batch", status: "NOT_FOUND" } }, 404);
    if (path.endsWith(":cancel")) {
      batch.state = "cancelled";
      return json({});
    }
    settleState(vendor, batch);
    return told(vendor, JSON.stringify(show(batch)));
  });
}
