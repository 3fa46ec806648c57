import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AdminClient, rowsOf } from "../../support/worlds/admin.ts";
import { type BatchVendor, openaiBatchVendor } from "../../support/vendors/batch-vendors.ts";
import { until } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";

/** Providers whose batches return results that nobody requested. */
let world: World;
let admin: AdminClient;
let vendor: BatchVendor;
let apiKey: string;

beforeAll(async () => {
  world = await startWorld();
  ({ admin } = world);
  vendor = openaiBatchVendor();
  const group = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "batches", group_type: "team" });
  await admin.post("/v1/admin/providers", {
    ...{ tenant_id: "default", provider_key: "openai", api_format: "openai", api_key: "sk-vendor-secret-0001", batch_mode: "provider" },
    base_url: `${vendor.baseUrl}/v1`,
  });
  await admin.post("/v1/admin/llms", {
    ...{ tenant_id: "default", name: "m", provider: "openai", enabled: true, group_ids: [group.id], modes: ["chat"] },
    ...{ input_cost_per_million_tokens: 1000, output_cost_per_million_tokens: 1000 },
  });
  apiKey = (await admin.post(`/v1/admin/resource-groups/${group.id}/api-keys`, { name: "batches", access_mode: "shared" })).key_value;
});
afterAll(async () => {
  await vendor.stop();
  await world.end();
});

async function api(method: string, path: string, body?: unknown): Promise<string> {
  const response = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/batch/jobs${path}`, {
    method,
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return response.text();
}

const QUESTIONS = ["fine", "twice", "absurd", "text", "huge", "no-status", "no-body", "torn", "missing", "nul"];

/** One result for each question, plus hostile ones. */
function hostile(held: string): string {
  const lines = held
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
  const batchId = lines[0].custom_id.replace(/_\d+$/, "") as string;
  const out: string[] = ["x".repeat(65 * 1024 * 1024), "null", "[]", "{}", "\0", `{"custom_id":7,"response":{"status_code":200}}`];
  for (const id of [`${batchId}_99999999999`, `${batchId}_-1`, `${batchId}_77`, `${batchId}_`, `${batchId}_1e400`, "another_1"])
    out.push(JSON.stringify({ ...lines[0], custom_id: id }));
  for (const line of lines) {
    const question = line.response.body.choices[0].message.content.toLowerCase() as string;
    const usage = (given: object) => ({ ...line, response: { ...line.response, body: { ...line.response.body, usage: given } } });
    const status = (status_code: unknown) => ({ ...line, response: { ...line.response, status_code } });
    const text = JSON.stringify(line);
    if (question === "twice") {
      const again = usage({ prompt_tokens: 900, completion_tokens: 900, total_tokens: 1800 });
      out.push(text, text, JSON.stringify(again), JSON.stringify({ ...line, response: null, error: { code: "batch_expired" } }));
    } else if (question === "absurd") out.push(JSON.stringify(usage({ prompt_tokens: -5, completion_tokens: -1, total_tokens: -6 })));
    else if (question === "text") out.push(JSON.stringify(usage({ prompt_tokens: "10", completion_tokens: { a: 1 }, total_tokens: null })));
    else if (question === "huge")
      out.push(JSON.stringify(usage({ prompt_tokens: 1, completion_tokens: 1 })).replace(/("completion_tokens"):1/, "$1:1e308"));
    else if (question === "no-status") out.push(JSON.stringify(status(1)).replace('"status_code":1', '"status_code":1e308'));
    else if (question === "no-body") out.push(JSON.stringify(status(204)));
    else if (question === "torn") out.push(text.slice(0, -20));
    else if (question === "nul") out.push(JSON.stringify({ ...line, response: null, error: { code: "c\0", message: "no\0 \ud800" } }));
    else if (question !== "missing") out.push(text);
  }
  return out.join("\n");
}

test("each line has one result and one audit row, whatever the provider returns for it", async () => {
  vendor.resultsInstead = (held) => (held === "" ? held : hostile(held));
  const requests = QUESTIONS.map((text) => ({ custom_id: text, body: { messages: [{ role: "user", content: text }], max_tokens: 100 } }));
  const made = JSON.parse(await api("POST", "", { model: "m", requests }));
  const job = await until(
    async () => JSON.parse(await api("GET", `/${made.id}`)),
    ({ ended_at: at }) => at !== null,
  );
  expect(job).toMatchObject({ status: "completed", request_counts: { total: QUESTIONS.length } });
  const lines = (await api("GET", `/${made.id}/results`))
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines.map(({ custom_id: id }) => id)).toEqual(QUESTIONS);
  const told = Object.fromEntries(lines.map(({ custom_id: id, response, error }) => [id, response?.status_code ?? error?.code]));
  expect(told).toMatchObject({
    fine: 200,
    twice: 200,
    absurd: 200,
    text: 200,
    huge: 200,
    torn: "upstream_error",
    missing: "upstream_error",
  });
  expect(told.nul).toBe("upstream_error");
  expect([told["no-status"], told["no-body"]]).toEqual([502, 502]);

  const rows = await rowsOf(admin, { parent_request_id: made.id, proxy_subtype: "batch_line_chat_completions" }, QUESTIONS.length);
  expect(rows).toHaveLength(QUESTIONS.length);
  const byId = new Map(rows.map((row) => [row.custom_metadata.batch.custom_id, row]));
  expect([...byId.keys()].sort()).toEqual([...QUESTIONS].sort());
  for (const row of rows) expect(row.llm_estimated_cost_usd ?? 0).toBeGreaterThanOrEqual(0);
  expect(byId.get("twice")).toMatchObject({ llm_prompt_tokens: 10, llm_completion_tokens: 20 });
  for (const odd of ["absurd", "text", "huge"]) {
    const { llm_prompt_tokens: prompt, llm_completion_tokens: completion, llm_estimated_cost_usd: cost } = byId.get(odd);
    expect([odd, prompt > 0 && prompt < 100, completion > 0 && completion < 100, cost > 0 && cost < 1]).toEqual([odd, true, true, true]);
  }
  const costs = rows.reduce((sum, row) => sum + (row.llm_estimated_cost_usd ?? 0), 0);
  const settled = await until(
    async () => JSON.parse(await api("GET", `/${made.id}`)).cost_usd,
    (cost) => Math.abs(cost - costs) < 1e-9,
  );
  expect(settled).toBeCloseTo(costs, 9);
  for (const { chain_id: id } of (await admin.get("/v1/admin/audit/chains")).chains) {
    const { verdict } = await admin.post(`/v1/admin/audit/chains/${id}/verify`, {});
    expect(["intact", "unanchored"]).toContain(verdict);
  }
});

test("an endless line in a provider's results is skipped, and the job ends", async () => {
  let sent = 0;
  const piece = new Uint8Array(1024 * 1024).fill(120);
  vendor.resultsInstead = (held) =>
    held === ""
      ? held
      : new ReadableStream<Uint8Array>({
          pull(controller) {
            if (sent++ < 300) controller.enqueue(piece);
            else {
              controller.enqueue(new TextEncoder().encode(`\n${held}`));
              controller.close();
            }
          },
        });
  const requests = [{ custom_id: "a", body: { messages: [{ role: "user", content: "fine" }], max_tokens: 100 } }];
  const made = JSON.parse(await api("POST", "", { model: "m", requests }));
  const job = await until(
    async () => JSON.parse(await api("GET", `/${made.id}`)),
    ({ ended_at: at }) => at !== null,
  );
  expect(job).toMatchObject({ status: "completed", request_counts: { total: 1, completed: 1 } });
});
