import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AdminClient, rowOf, rowsOf } from "../../support/worlds/admin.ts";
import { anthropicBatchVendor, type BatchVendor, geminiBatchVendor, openaiBatchVendor } from "../../support/vendors/batch-vendors.ts";
import { until } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";

/**
 * Jobs that providers run as their own batches: each line is governed on its way out and back, has its row, and costs a fraction of the
 * price.
 */

const FORMATS = { openai: openaiBatchVendor, anthropic: anthropicBatchVendor, gemini: geminiBatchVendor } as const;
type Format = keyof typeof FORMATS;

let world: World;
let admin: AdminClient;
let groupId: string;
let apiKey: string;
const vendors = {} as Record<Format, BatchVendor>;

beforeAll(async () => {
  world = await startWorld();
  ({ admin } = world);
  const group = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "batches", group_type: "team" });
  groupId = group.id;
  for (const format of Object.keys(FORMATS) as Format[]) {
    const vendor = (vendors[format] = FORMATS[format]());
    await admin.post("/v1/admin/providers", {
      ...{ tenant_id: "default", provider_key: format, api_format: format, api_key: `sk-vendor-secret-${format}`, batch_mode: "provider" },
      base_url: format === "gemini" ? vendor.baseUrl : `${vendor.baseUrl}/v1`,
    });
    await admin.post("/v1/admin/llms", {
      ...{ tenant_id: "default", name: `${format}-1`, provider: format, enabled: true, group_ids: [groupId] },
      ...{ modes: ["chat", "responses", "completion", "embedding", "moderation"], input_cost_per_million_tokens: 1000 },
      ...{ output_cost_per_million_tokens: 1000, ...(format === "gemini" ? { batch_price_factor: 0.25 } : {}) },
    });
  }
  apiKey = (await admin.post(`/v1/admin/resource-groups/${groupId}/api-keys`, { name: "batches", access_mode: "shared" })).key_value;
});
afterAll(async () => {
  await Promise.all(Object.values(vendors).map((vendor) => vendor.stop()));
  await world.end();
});

async function api(method: string, path: string, body?: unknown, key = apiKey): Promise<string> {
  const response = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/batch/jobs${path}`, {
    method,
    headers: { "x-api-key": key, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return response.text();
}
const asks = (text: string) => ({ custom_id: text, body: { messages: [{ role: "user", content: text }], max_tokens: 100 } });
const submit = async (body: object) => JSON.parse(await api("POST", "", body));
const jobOf = async (id: string) => JSON.parse(await api("GET", `/${id}`));
const ended = (id: string) =>
  until(
    () => jobOf(id),
    ({ ended_at: at }) => at !== null,
  );
const results = async (id: string): Promise<any[]> =>
  (await api("GET", `/${id}/results`))
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
const said = ({ response }: any) => response?.body.choices?.[0].message.content ?? null;

test.each(Object.keys(FORMATS) as Format[])(
  "%s runs a job as one provider batch, with one audit row per line at the batch price",
  async (format) => {
    const vendor = vendors[format];
    const made = await submit({ model: `${format}-1`, requests: ["one", "two", "fail", "late"].map(asks) });
    expect(made).toMatchObject({ mode: "provider", total_requests: 4 });
    const job = await ended(made.id);
    expect(job).toMatchObject({ status: "completed", mode: "provider", request_counts: { total: 4, completed: 2, failed: 2 } });
    expect(vendor.batches).toHaveLength(1);
    expect(vendor.batches[0]?.lines).toHaveLength(4);

    const all = await results(made.id);
    expect(all.map((one) => [one.custom_id, said(one), one.response?.status_code ?? null, one.error?.code ?? null])).toEqual([
      ["one", "ONE", 200, null],
      ["two", "TWO", 200, null],
      ["fail", null, 400, "upstream_rejected"],
      ["late", null, null, format === "gemini" ? "upstream_error" : "batch_expired"],
    ]);
    // Each line is 10 and 20 tokens at a thousandth of a dollar each.
    const factor = format === "gemini" ? 0.25 : 0.5;
    const rows = await rowsOf(admin, { parent_request_id: made.id, proxy_subtype: "batch_line_chat_completions" }, 4);
    // The job's cost is the sum of its rows.
    expect((await ended(made.id)).cost_usd).toBeCloseTo(2 * 30 * 0.001 * factor, 6);
    expect(rows).toHaveLength(4);
    for (const row of rows) {
      expect(row).toMatchObject({
        proxy_type: "batch",
        llm_model_used: `${format}-1`,
        llm_provider: format,
        request_content_hash: expect.any(String),
      });
      expect(row.custom_metadata.batch).toMatchObject({ price_factor: factor, provider_batch: vendor.batches[0]?.id });
    }
    expect(rows.filter(({ success }) => success).map((row) => [row.llm_prompt_tokens, row.llm_completion_tokens])).toEqual([
      [10, 20],
      [10, 20],
    ]);
    expect(
      all
        .map(({ response }) => response?.request_id ?? null)
        .filter((id) => id !== null)
        .sort(),
    ).toEqual(
      rows
        .filter(({ error_type }) => error_type === null || error_type === "upstream_rejected")
        .map(({ id }) => id)
        .sort(),
    );
    const end = await rowOf(admin, { parent_request_id: made.id.slice("batch_".length), proxy_subtype: "batch_end" });
    expect(end.custom_metadata.batch_end).toMatchObject({ job_id: made.id, status: "completed" });
  },
);

test("files uploaded to the provider for a batch are deleted", async () => {
  const files = await until(
    () => [...vendors.openai.files.keys()].filter((name) => !name.startsWith("gone-")),
    (all) => all.length === 0,
  );
  expect(files).toEqual([]);
});

test.each([
  ["/v1/responses", { input: "hello" }, (body: any) => body.output[0].content[0].text, "HELLO"],
  ["/v1/completions", { prompt: "hello", max_tokens: 5 }, (body: any) => body.choices[0].text, "HELLO"],
  ["/v1/embeddings", { input: "hello" }, (body: any) => body.data[0].embedding, [0.25, -0.5]],
  ["/v1/moderations", { input: "hello" }, (body: any) => body.results[0].flagged, false],
] as const)("OpenAI runs lines for %s as a provider batch unchanged", async (endpoint, body, read, expected) => {
  const { id } = await submit({ model: "openai-1", endpoint, requests: [{ custom_id: "a", body }] });
  expect(await ended(id)).toMatchObject({ status: "completed", mode: "provider", request_counts: { completed: 1 } });
  const [one] = await results(id);
  expect(read(one.response.body) as unknown).toEqual(expected);
  expect(vendors.openai.batches[0]?.endpoint).toBe(endpoint);
});

test("Gemini runs embeddings as a provider batch, and a line with several inputs returns all of them", async () => {
  const lines = [["a", "bb", "ccc"], ["one", "fail"], "four"].map((input, at) => ({ custom_id: `l${at}`, body: { input } }));
  const { id, mode } = await submit({ model: "gemini-1", endpoint: "/v1/embeddings", requests: lines });
  expect(mode).toBe("provider");
  expect(await ended(id)).toMatchObject({ status: "completed", request_counts: { completed: 2, failed: 1 } });
  const [first, second, third] = await results(id);
  const vectors = ({ response }: any) => response.body.data.map(({ embedding }: any) => embedding);
  expect(vectors(first)).toEqual([
    [1, 0.5],
    [2, 0.5],
    [3, 0.5],
  ]);
  expect([second.response.status_code, second.error.code]).toEqual([400, "upstream_rejected"]);
  expect(vectors(third)).toEqual([[4, 0.5]]);
  expect(vendors.gemini.batches[0]?.endpoint).toBe("asyncBatchEmbedContent");
});

test("guardrails inspect lines before they are submitted and responses before they are returned", async () => {
  const config = await admin.post("/v1/admin/guardrails/configs", {
    ...{ tenant_id: "default", name: "provider batches", group_ids: [groupId], surfaces: { batch_input: true, batch_output: true } },
    builtin: { pii_enabled: true, pii_action: "redact", banned_words: ["dynamite", "BOOM"] },
  });
  vendors.anthropic.endsAtOnce = false;
  const { id } = await submit({ model: "anthropic-1", requests: ["write to joe@example.com", "dynamite", "boom", "hello"].map(asks) });
  const [batch] = await until(
    () => vendors.anthropic.batches,
    (all) => all.length === 2,
  );
  const asked = batch?.lines.map(({ body }) => body.messages[0].content[0]?.text ?? body.messages[0].content);
  expect(asked).toEqual(["write to [REDACTED:email]", "hello"]);
  vendors.anthropic.endsAtOnce = true;
  await ended(id);
  expect((await results(id)).map((one) => [said(one), one.error?.code ?? null])).toEqual([
    ["WRITE TO [REDACTED:EMAIL]", null],
    [null, "guardrail_blocked"],
    [null, "guardrail_blocked"],
    ["HELLO", null],
  ]);
  await admin.request("DELETE", `/v1/admin/guardrails/configs/${config.id}`);
});

test("a cancelled job keeps the results that the provider returned", async () => {
  vendors.openai.endsAtOnce = false;
  const before = vendors.openai.batches.length;
  const { id } = await submit({ model: "openai-1", requests: ["a", "b", "c", "d"].map(asks) });
  await until(
    () => vendors.openai.batches.length,
    (count) => count > before,
  );
  expect(JSON.parse(await api("POST", `/${id}/cancel`))).toMatchObject({ status: "cancelling" });
  const job = await ended(id);
  expect(job).toMatchObject({ status: "cancelled", request_counts: { total: 4, completed: 2 } });
  expect((await results(id)).map((one) => [said(one), one.error?.code ?? null])).toEqual([
    ["A", null],
    [null, "batch_cancelled"],
    ["C", null],
    [null, "batch_cancelled"],
  ]);
  vendors.openai.endsAtOnce = true;
});

/** A job of four lines that the vendor has accepted and not finished, with the vendor's batch. */
async function underWay(model: string, key = apiKey) {
  vendors.openai.endsAtOnce = false;
  const before = vendors.openai.batches.length;
  const { id } = JSON.parse(await api("POST", "", { model, requests: ["a", "b", "c", "d"].map(asks) }, key));
  await until(
    () => vendors.openai.batches.length,
    (count) => count > before,
  );
  return { id, batch: vendors.openai.batches[0] };
}

/** The job's cost, available once the rows it is summed from are shipped. */
const costOf = async (id: string): Promise<number> =>
  (
    await until(
      () => jobOf(id),
      ({ cost_usd: cost }) => cost > 0,
    )
  ).cost_usd;

test("revoking the API key cancels its provider batch, records the cost, and returns no results", async () => {
  const key = await admin.post(`/v1/admin/resource-groups/${groupId}/api-keys`, { name: "leaver", access_mode: "shared" });
  const { id, batch } = await underWay("openai-1", key.key_value);
  await admin.request("DELETE", `/v1/admin/api-keys/${key.id}`);
  const job = await ended(id);
  vendors.openai.endsAtOnce = true;
  expect(batch?.state).toBe("cancelled");
  expect(job).toMatchObject({ status: "failed", request_counts: { completed: 0, failed: 4 } });
  const codes = (await results(id)).map(({ error }) => error?.code ?? null);
  expect(new Set(codes)).toEqual(new Set([job.error.code]));
  expect(await costOf(id)).toBeCloseTo(2 * 30 * 0.001 * 0.5, 6);
});

test("deleting the model cancels its provider batch, and what was answered by then is returned and charged", async () => {
  const made = await admin.post("/v1/admin/llms", {
    ...{ tenant_id: "default", name: "openai-doomed", provider: "openai", enabled: true, group_ids: [groupId], modes: ["chat"] },
    ...{ input_cost_per_million_tokens: 1000, output_cost_per_million_tokens: 1000 },
  });
  const { id, batch } = await underWay("openai-doomed");
  await admin.request("DELETE", `/v1/admin/llms/${made.id}`);
  const job = await ended(id);
  vendors.openai.endsAtOnce = true;
  expect(batch?.state).toBe("cancelled");
  expect(job).toMatchObject({
    status: "failed",
    error: { code: "model_not_found", message: 'The model "openai-doomed" was deleted.' },
    request_counts: { completed: 2, failed: 2 },
  });
  expect((await results(id)).map((one) => [said(one), one.error?.code ?? null])).toEqual([
    ["A", null],
    [null, "model_not_found"],
    ["C", null],
    [null, "model_not_found"],
  ]);
  expect(await costOf(id)).toBeCloseTo(2 * 30 * 0.001 * 0.5, 6);
});

test.each([
  ["anthropic", '{"type":"text","text":"PAY"}', '{"type":"tool_use","id":"toolu_1","name":"pay","input":{"account":9007199254740993123}}'],
  ["gemini", '{"text":"PAY"}', '{"functionCall":{"name":"pay","args":{"account":9007199254740993123}}}'],
] as const)("a long number in a tool call of a %s model keeps its digits", async (format, text, call) => {
  vendors[format].resultsInstead = (held) => held.replace(text, call);
  const { id } = await submit({ model: `${format}-1`, requests: [asks("pay")] });
  expect(await ended(id)).toMatchObject({ status: "completed", request_counts: { completed: 1 } });
  vendors[format].resultsInstead = null;
  const [line] = await results(id);
  expect(line.response.body.choices[0].message.tool_calls).toMatchObject([
    { function: { name: "pay", arguments: '{"account":9007199254740993123}' } },
  ]);
});

test.each(Object.keys(FORMATS) as Format[])(
  "a batch that %s accepted without a response is found again and not submitted twice",
  async (format) => {
    const vendor = vendors[format];
    const before = vendor.batches.length;
    vendor.breakNext = true;
    const { id } = await submit({ model: `${format}-1`, requests: ["a", "b"].map(asks) });
    expect(await ended(id)).toMatchObject({ status: "completed", request_counts: { completed: 2 } });
    expect(vendor.batches.length).toBe(before + 1);
  },
);

test("a batch that the provider refuses fails its lines; after a 429 it is submitted again", async () => {
  vendors.openai.refuseNext = 429;
  const busy = await submit({ model: "openai-1", requests: [asks("a")] });
  expect(await ended(busy.id)).toMatchObject({ status: "completed", request_counts: { completed: 1 } });
  vendors.openai.refuseNext = 400;
  const wrong = await submit({ model: "openai-1", requests: [asks("a")] });
  expect(await ended(wrong.id)).toMatchObject({ status: "completed", request_counts: { failed: 1 } });
  const [row] = await rowsOf(admin, { parent_request_id: wrong.id, proxy_subtype: "batch_line_chat_completions" }, 1);
  expect(row).toMatchObject({ error_type: "upstream_error", error_message: expect.stringContaining("the vendor says 400") });
  expect(JSON.stringify(row)).not.toContain("sk-vendor-secret");
  // Neither refusal left its input file at the vendor.
  const left = () => [...vendors.openai.files.keys()].filter((name) => !/^(gone|in|out|err)-/.test(name));
  expect(await until(left, (all) => all.length === 0)).toEqual([]);
});

test("batch_mode of a provider is refused for formats without batches", async () => {
  const { providers } = await admin.get("/v1/admin/providers?provider_key=openai");
  const [openai] = providers;
  expect(openai.batch_mode).toBe("provider");
  const refused = await admin.request("POST", "/v1/admin/providers", {
    ...{
      tenant_id: "default",
      provider_key: "azure",
      api_format: "azure_openai",
      base_url: "https://name.openai.azure.com",
      batch_mode: "provider",
    },
  });
  expect([refused.status, JSON.stringify(refused.body)]).toEqual([400, expect.stringContaining("batch_mode")]);
  expect(await rowOf(admin, { proxy_subtype: "batch_submit" })).toBeDefined();
});
