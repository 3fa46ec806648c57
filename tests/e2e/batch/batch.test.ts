import { afterAll, beforeAll, expect, test } from "bun:test";
import OpenAI, { toFile } from "openai";
import { rowOf, rowsOf, serveModels, type Served } from "../../support/worlds/admin.ts";
import { until } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";
import { newTeam } from "../tools/mcp-harness.ts";

/** Batch jobs as clients see them: submitted as requests or as a file, run by the gateway, each line a call with its own row. */

let world: World;
let served: Served;
let openai: OpenAI;

beforeAll(async () => {
  world = await startWorld();
  served = await serveModels(world.admin, world.upstream.baseUrl, ["fake-1", "bad-request", "slow-down", "hold"]);
  openai = new OpenAI({ apiKey: served.apiKey, baseURL: `${world.gateway.runtimeUrl}/v1/proxy/llm`, maxRetries: 0 });
});
afterAll(() => world.end());

async function api(method: string, path: string, body?: unknown, apiKey = served.apiKey) {
  const response = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/batch${path}`, {
    method,
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: text.startsWith("{") ? JSON.parse(text.split("\n")[0] as string) : null,
  };
}

const asks = (text: string) => ({ messages: [{ role: "user", content: text }] });
const lines = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

/** Resolves with the job once it has ended. */
async function ended(id: string, apiKey = served.apiKey): Promise<any> {
  return until(
    async () => (await api("GET", `/jobs/${id}`, undefined, apiKey)).json,
    (job) => ["completed", "failed", "cancelled", "expired"].includes(job.status),
  );
}

test("a batch job runs each request as a call with its own audit row, and returns results in the order of the input", async () => {
  const requests = ["a", "b", "c", "d", "e"].map((name) => ({ custom_id: name, body: asks(`say ${name}`) }));
  const made = await api("POST", "/jobs", { requests, model: "fake-1", description: "five", metadata: { team: "x" } });
  expect(made.status).toBe(201);
  expect(made.json).toMatchObject({ total_requests: 5, endpoint: "/v1/chat/completions", completion_window: "24h", mode: "gateway" });
  const job = await ended(made.json.id);
  expect(job).toMatchObject({
    status: "completed",
    request_counts: { total: 5, completed: 5, failed: 0, cancelled: 0, expired: 0 },
    error: null,
  });

  const { text } = await api("GET", `/jobs/${job.id}/results`);
  expect(lines(text).map(({ custom_id, response, error }) => [custom_id, response.status_code, response.body.object, error])).toEqual(
    ["a", "b", "c", "d", "e"].map((name) => [name, 200, "chat.completion", null]),
  );
  const page = await api("GET", `/jobs/${job.id}/results?page=2&page_size=2`);
  expect(page.json).toMatchObject({ total: 5, page: 2, page_size: 2 });
  expect(page.json.results.map(({ custom_id }: any) => custom_id)).toEqual(["c", "d"]);

  const submit = await rowOf(world.admin, { id: made.headers.get("x-request-id") });
  expect(submit).toMatchObject({ proxy_type: "batch", proxy_subtype: "batch_submit", llm_model_requested: "fake-1", success: true });
  const ran = await rowsOf(world.admin, { parent_request_id: job.id, proxy_subtype: "batch_line_chat_completions" }, 5);
  expect(ran).toHaveLength(5);
  for (const row of ran)
    expect(row).toMatchObject({
      proxy_type: "batch",
      root_task_id: submit.root_task_id,
      correlation_id: submit.correlation_id,
      llm_model_used: "fake-1",
    });
  expect(submit.api_key_name).toEqual(expect.any(String));
  expect(await rowOf(world.admin, { parent_request_id: submit.id, proxy_subtype: "batch_end" })).toMatchObject({
    proxy_type: "batch",
    api_key_id: submit.api_key_id,
    api_key_name: submit.api_key_name,
    success: true,
  });
  expect(
    lines(text)
      .map(({ response }) => response.request_id)
      .sort(),
  ).toEqual(ran.map(({ id }) => id).sort());
  const cost = ran.reduce((sum, row) => sum + row.llm_estimated_cost_usd, 0);
  expect((await ended(job.id)).cost_usd).toBeCloseTo(cost, 6);
});

test("null in a job's body counts as absent, and of two names of a model its ID decides", async () => {
  const absent = { endpoint: null, completion_window: null, description: null, metadata: null };
  const requests = [{ custom_id: "a", body: asks("hi") }];
  const made = await api("POST", "/jobs", { ...absent, requests, model: "bad-request", model_id: served.models["fake-1"] });
  expect(made.status).toBe(201);
  expect(made.json).toMatchObject({ endpoint: "/v1/chat/completions", completion_window: "24h", model: null });
  expect((await ended(made.json.id)).request_counts).toMatchObject({ total: 1, completed: 1 });
});

test("OpenAI's client submits a file, reads and lists the job, and reads the output and error files", async () => {
  const input = [
    { custom_id: "fine", method: "POST", url: "/v1/chat/completions", body: { model: "fake-1", ...asks("hi") } },
    { custom_id: "refused", method: "POST", url: "/v1/chat/completions", body: { model: "bad-request", ...asks("hi") } },
  ];
  const file = await openai.files.create({
    purpose: "batch",
    file: await toFile(Buffer.from(input.map((line) => JSON.stringify(line)).join("\n")), "in.jsonl"),
  });
  const made = await openai.batches.create({
    input_file_id: file.id,
    endpoint: "/v1/chat/completions",
    completion_window: "24h",
    metadata: { a: "b" },
    output_expires_after: { anchor: "created_at", seconds: 7_200 },
  });
  expect(made).toMatchObject({
    object: "batch",
    input_file_id: file.id,
    request_counts: { total: 2, completed: 0, failed: 0 },
    metadata: { a: "b" },
  });
  await ended(made.id);
  const batch = await openai.batches.retrieve(made.id);
  expect(batch).toMatchObject({ status: "completed", request_counts: { total: 2, completed: 1, failed: 1 }, errors: null });
  const output = lines(await (await openai.files.content(batch.output_file_id as string)).text());
  expect(output).toMatchObject([{ custom_id: "fine", response: { status_code: 200 }, error: null }]);
  const errors = lines(await (await openai.files.content(batch.error_file_id as string)).text());
  expect(errors).toMatchObject([{ custom_id: "refused", response: { status_code: 400, body: { error: { message: "fake 400" } } } }]);
  for (const id of [batch.output_file_id, batch.error_file_id]) {
    const { created_at: at, expires_at: expiresAt } = await openai.files.retrieve(id as string);
    expect((expiresAt as number) - at).toBe(7_200);
  }
  const listed: string[] = [];
  for await (const { id } of openai.batches.list({ limit: 1 })) listed.push(id);
  expect(listed[0]).toBe(made.id);
  const refused = await openai.batches.cancel(made.id).catch((error) => error.status);
  expect(refused).toBe(409);
});

test("an invalid job is refused with the line and field named, and nothing is run", async () => {
  const before = world.upstream.seen.length;
  const made = await api("POST", "/jobs", {
    model: "fake-1",
    requests: [
      { custom_id: "a", body: asks("x") },
      { custom_id: "a", body: asks("x") },
      { body: asks("x") },
      { custom_id: "s", body: { ...asks("x"), stream: true } },
      { custom_id: "t", body: "text" },
      { custom_id: "u", body: { messages: 5 } },
    ],
  });
  expect(made.status).toBe(400);
  for (const named of [
    "requests[1].custom_id` was used before, by number 1",
    "requests[2].custom_id",
    "requests[3].body.stream",
    "requests[4].body",
  ])
    expect(made.json.error).toContain(named);
  const messages = await api("POST", "/jobs", { model: "fake-1", requests: [{ custom_id: "u", body: { messages: 5 } }] });
  expect([messages.status, messages.json.error]).toEqual([400, expect.stringContaining("requests[0].body.messages")]);
  for (const [body, field] of [
    [{ model: "fake-1", requests: [] }, "has no lines"],
    [{ requests: [{ custom_id: "a", body: asks("x") }] }, "`model` is required"],
    [{ model: "fake-1", endpoint: "/v1/nothing", requests: [{ custom_id: "a", body: asks("x") }] }, "`endpoint`"],
    [{ model: "fake-1", completion_window: "8d", requests: [{ custom_id: "a", body: asks("x") }] }, "`completion_window`"],
    ["[1", "JSON"],
  ] as const) {
    const refused = await api("POST", "/jobs", body);
    expect([refused.status, refused.json.error]).toEqual([400, expect.stringContaining(field)]);
  }
  const lineOf = (body: object, more: object = {}) => ({ custom_id: "a", body: { ...asks("x"), ...body }, ...more });
  const modelId = served.models["fake-1"];
  const one = JSON.stringify(lineOf({}));
  for (const [body, field] of [
    [{ model_id: modelId, requests: [lineOf({ model: "bad-request" })] }, "requests[0].body.model` must be left out"],
    [{ model: "fake-1", requests: [lineOf({ model_id: served.models["bad-request"] })] }, "requests[0].body.model_id` must be left out"],
    [{ model_id: modelId, requests: [lineOf({ model_id: "another" })] }, "requests[0].body.model_id` names another model than the job"],
    [{ model: "fake-1", requests: [lineOf({}, { url: "/v1/embeddings" })] }, "requests[0].url` must be /v1/chat/completions"],
    [{ model: "fake-1", requests: [lineOf({})], priority: 1 }, "`priority` is not known here"],
    [{ model: "fake-1", requests: [lineOf({}, { custom_id: "\ud800" })] }, "requests[0].custom_id"],
    [`{"model":"fake-1","requests":[${one}${one}]}`, "requests` is not JSON"],
    [`{"model":"fake-1","requests":[${one},]}`, "requests` is not JSON"],
    [`{"model":"fake-1","requests":[${one},,${one}]}`, "requests` is not JSON"],
    [`{"model":"fake-1","requests":[,${one}]}`, "requests` is not JSON"],
  ] as const) {
    const refused = await api("POST", "/jobs", body);
    expect([refused.status, refused.json.error]).toEqual([400, expect.stringContaining(field)]);
  }
  const of = (count: number, body: object) =>
    `[${Array.from({ length: count }, (_, i) => JSON.stringify({ custom_id: `n${i}`, body })).join(",")}]`;
  for (const [requests, named] of [
    [of(50_001, {}), "requests` has more than 50000 lines"],
    [of(30, { ...asks("x"), stream: true }), "requests[0].body.stream` must not be set"],
    [`[${one},${JSON.stringify(lineOf({ user: "x".repeat(8 * 1024 * 1024) }))},${one}]`, "requests[1]` is larger than 8 MiB"],
  ] as const) {
    const refused = await api("POST", "/jobs", `{"requests":${requests},"model":"fake-1"}`);
    expect([refused.status, refused.json.error]).toEqual([400, expect.stringContaining(named)]);
  }
  const wide = await api("POST", "/jobs", `{"description":"${"x".repeat(9 * 1024 * 1024)}","model":"fake-1","requests":[${one}]}`);
  expect([wide.status, wide.json.error]).toEqual([400, expect.stringContaining("has more than 8 MiB beside its lines")]);
  const soon = { input_file_id: "file-0", endpoint: "/v1/chat/completions", completion_window: "24h" } as const;
  const gone = openai.batches.create({ ...soon, output_expires_after: { anchor: "created_at", seconds: 60 } });
  expect(await gone.catch(({ status, message }) => [status, message])).toEqual([
    400,
    expect.stringContaining("output_expires_after.seconds"),
  ]);
  const packed = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/batch/jobs`, {
    method: "POST",
    headers: { "x-api-key": served.apiKey, "content-type": "application/json", "content-encoding": "gzip" },
    body: Bun.gzipSync(`{"model":"fake-1","requests":[${one}]}`),
  });
  expect(packed.status).toBe(415);
  const unknown = await api("POST", "/jobs", { model: "nothing", requests: [{ custom_id: "a", body: asks("x") }] });
  expect(unknown.status).toBe(404);
  const file = await openai.files.create({
    purpose: "batch",
    file: await toFile(Buffer.from('{"custom_id":"a"}\n\nnot json\n'), "in.jsonl"),
  });
  const failed = await openai.batches.create({ input_file_id: file.id, endpoint: "/v1/embeddings", completion_window: "24h" });
  expect(failed.status).toBe("failed");
  expect(failed.errors?.data?.map(({ line, param }) => [line, param])).toEqual([
    [1, "method"],
    [1, "url"],
    [1, "body"],
    [3, null],
  ]);
  const blank = await openai.files.create({ purpose: "batch", file: await toFile(Buffer.from("\n"), "blank.jsonl") });
  const none = await openai.batches.create({ input_file_id: blank.id, endpoint: "/v1/chat/completions", completion_window: "24h" });
  expect(none.errors?.data?.map(({ message }) => message)).toEqual(["The input has no lines."]);
  expect(world.upstream.seen).toHaveLength(before);
});

test.each(["a\0b", "\ud800"])("the text %j is refused by field in a job and its lines, and escaped in a file's errors", async (text) => {
  const requests = [{ custom_id: "a", body: asks("x") }];
  for (const [body, field] of [
    [{ model: text, requests }, "`model`"],
    [{ model_id: text, requests }, "`model_id`"],
    [{ model: "fake-1", requests, description: text }, "`description`"],
    [{ model: "fake-1", requests, metadata: { team: text } }, "`metadata.team`"],
    [{ model: "fake-1", requests, metadata: { [text]: "x" } }, "`metadata`"],
    [{ model: "fake-1", requests: [{ custom_id: "a", body: { ...asks("x"), model: text } }] }, "`requests[0].body.model`"],
  ] as const) {
    const refused = await api("POST", "/jobs", body);
    expect([refused.status, refused.json.error]).toEqual([400, expect.stringContaining(field)]);
  }
  const asked = { endpoint: "/v1/chat/completions", completion_window: "24h" } as const;
  const told = async (job: object) =>
    openai.batches.create({ input_file_id: "file-0", ...asked, ...job }).then(
      ({ status, errors }) => [status, errors?.data?.map(({ param }) => param)],
      ({ status, message }) => [status, message],
    );
  expect(await told({ metadata: { team: text } })).toEqual([400, expect.stringContaining("`metadata.team`")]);
  expect(await told({ input_file_id: text })).toEqual([400, expect.stringContaining("`input_file_id`")]);
  const line = { custom_id: "a", method: "POST", url: asked.endpoint, body: { ...asks("x"), model: text }, [text]: 1 };
  const file = await openai.files.create({ purpose: "batch", file: await toFile(Buffer.from(JSON.stringify(line)), "in.jsonl") });
  expect(await told({ input_file_id: file.id })).toEqual(["failed", [text.replace("\0", "\ufffd").toWellFormed(), "body.model"]]);
});

test("an ambiguous member name is refused as ambiguous_name, with both names and their place", async () => {
  const before = world.upstream.seen.length;
  const line = { custom_id: "a", body: asks("x") };
  const spelled = { ...asks("x"), model: "fake-1", Model: "b" };
  for (const [body, names, place] of [
    [{ model: "fake-1", Model: "b", requests: [line] }, ["Model", "model"], null],
    [{ Completion_Window: "1h", model: "fake-1", requests: [line] }, ["Completion_Window", "completion_window"], null],
    [{ model: "fake-1", requests: [line, { custom_id: "b", body: spelled }] }, ["Model", "model"], "requests[1].body.Model"],
    [{ model: "fake-1", requests: [{ ...line, Custom_Id: "b" }] }, ["Custom_Id", "custom_id"], "requests[0].Custom_Id"],
    [
      { model: "fake-1", requests: [{ custom_id: "a", body: { messages: [{ role: "user", content: "x", Content: "y" }] } }] },
      ["Content", "content"],
      "requests[0].body.messages[0]",
    ],
  ] as const) {
    const { status, json } = await api("POST", "/jobs", body);
    const [name, other] = names;
    const told = `The names "${name}" and "${other}" are the same to parsers that do not care about case; send only one of them, as it is spelled.`;
    expect([status, json.code, json.error]).toEqual([
      400,
      "ambiguous_name",
      place === null ? told : `${told} The first stands at \`${place}\`.`,
    ]);
  }

  const said = { input_file_id: "file-0", endpoint: "/v1/chat/completions", completion_window: "24h" } as const;
  const twice = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/batches`, {
    method: "POST",
    headers: { "x-api-key": served.apiKey, "content-type": "application/json" },
    body: JSON.stringify({ ...said, Input_File_Id: "file-1" }),
  });
  expect([twice.status, await twice.json()]).toEqual([
    400,
    expect.objectContaining({ code: "ambiguous_name", error: expect.stringContaining('"Input_File_Id" and "input_file_id"') }),
  ]);
  const written = [spelled, asks("y")].map((body, at) => JSON.stringify({ custom_id: `${at}`, method: "POST", url: said.endpoint, body }));
  const file = await openai.files.create({ purpose: "batch", file: await toFile(Buffer.from(written.join("\n")), "in.jsonl") });
  const failed = await openai.batches.create({ ...said, input_file_id: file.id });
  expect([failed.status, failed.errors?.data]).toEqual([
    "failed",
    [
      {
        ...{ code: "ambiguous_name", line: 1, param: "body.Model" },
        message: expect.stringMatching(/^The names "Model" and "model" are .* as it is spelled\.$/),
      },
    ],
  ]);
  expect(world.upstream.seen).toHaveLength(before);
});

test("a line in a file may name its model by model_id, so a job may have several models", async () => {
  const of = (model: object) => ({ method: "POST", url: "/v1/chat/completions", body: { ...model, ...asks("hi") } });
  const input = [
    { custom_id: "named", ...of({ model: "fake-1" }) },
    { custom_id: "by its id", ...of({ model: "fake-1", model_id: served.models["bad-request"] }) },
  ];
  const file = await openai.files.create({
    purpose: "batch",
    file: await toFile(Buffer.from(input.map((line) => JSON.stringify(line)).join("\n")), "in.jsonl"),
  });
  const made = await openai.batches.create({ input_file_id: file.id, endpoint: "/v1/chat/completions", completion_window: "24h" });
  expect(made.model).toBeNull();
  expect(await ended(made.id)).toMatchObject({ status: "completed", request_counts: { completed: 1, failed: 1 } });
});

test("a job is not found by other groups, and a cancelled job keeps the results it has", async () => {
  const other = await newTeam(world.admin, "others of batch");
  const requests = Array.from({ length: 400 }, (_, i) => ({ custom_id: `n${i}`, body: asks("x") }));
  const made = await api("POST", "/jobs", { model: "fake-1", requests });
  for (const [method, path] of [
    ["GET", ""],
    ["POST", "/cancel"],
    ["GET", "/results"],
  ] as const)
    expect((await api(method, `/jobs/${made.json.id}${path}`, undefined, other.apiKey)).status).toBe(404);
  expect((await api("GET", "/jobs", undefined, other.apiKey)).json.total).toBe(0);
  const cancelled = await api("POST", `/jobs/${made.json.id}/cancel`);
  expect([cancelled.status, cancelled.json.status]).toEqual([200, "cancelling"]);
  const job = await ended(made.json.id);
  expect(job.status).toBe("cancelled");
  expect(job.request_counts.completed + job.request_counts.cancelled).toBe(400);
  const results = lines((await api("GET", `/jobs/${job.id}/results`)).text);
  expect(results.map(({ custom_id }) => custom_id)).toEqual(requests.map(({ custom_id }) => custom_id));
  expect(results.at(-1)).toMatchObject({ response: null, error: { code: "batch_cancelled" } });
});

test("revoking the API key ends its job, with the reason on the job", async () => {
  const team = await newTeam(world.admin, "ending batch");
  await world.admin.request("PATCH", `/v1/admin/llms/${served.models["fake-1"]}`, { group_ids: [served.groupId, team.groupId] });
  const requests = Array.from({ length: 1000 }, (_, i) => ({ custom_id: `n${i}`, body: asks("x") }));
  const made = await api("POST", "/jobs", { model: "fake-1", requests }, team.apiKey);
  expect(made.status).toBe(201);
  const second = await world.admin.post(`/v1/admin/resource-groups/${team.groupId}/api-keys`, { name: "second", access_mode: "shared" });
  await world.admin.request("DELETE", `/v1/admin/api-keys/${team.apiKeyId}`);
  const job = await ended(made.json.id, second.key_value);
  expect(job).toMatchObject({ status: "failed", error: { code: "credential_revoked" } });
  expect(job.request_counts.completed).toBeLessThan(1000);
});

test("revoking the API key while the only line is in progress ends the job for the same reason", async () => {
  const team = await newTeam(world.admin, "ending line");
  await world.admin.request("PATCH", `/v1/admin/llms/${served.models["hold"]}`, { group_ids: [served.groupId, team.groupId] });
  const before = world.upstream.seen.length;
  const made = await api("POST", "/jobs", { model: "hold", requests: [{ custom_id: "held", body: asks("x") }] }, team.apiKey);
  await until(
    () => world.upstream.seen.length,
    (seen) => seen > before,
  );
  const second = await world.admin.post(`/v1/admin/resource-groups/${team.groupId}/api-keys`, { name: "second", access_mode: "shared" });
  await world.admin.request("DELETE", `/v1/admin/api-keys/${team.apiKeyId}`);
  const job = await ended(made.json.id, second.key_value);
  expect(job).toMatchObject({ status: "failed", error: { code: "credential_revoked" } });
});

test("administrators see every job of the tenant, with its failures by code and its results", async () => {
  const made = await api("POST", "/jobs", { model: "bad-request", requests: [{ custom_id: "a", body: asks("x") }] });
  await ended(made.json.id);
  const { jobs, total } = await world.admin.get("/v1/admin/batch-jobs?tenant_id=default&status=completed&page_size=1");
  expect([jobs[0].id, jobs[0].resource_group_id, jobs.length, total >= 1]).toEqual([made.json.id, served.groupId, 1, true]);
  expect(await world.admin.get(`/v1/admin/batch-jobs/${made.json.id}`)).toMatchObject({
    errors_by_kind: [{ code: "upstream_rejected", count: 1 }],
    provider_batches: [],
    request_counts: { failed: 1 },
  });
  const results = await world.admin.get(`/v1/admin/batch-jobs/${made.json.id}/results`);
  expect(JSON.stringify(results)).toContain("fake 400");
  expect((await world.admin.request("GET", "/v1/admin/batch-jobs/batch_none")).status).toBe(404);
});
