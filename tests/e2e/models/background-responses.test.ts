import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import OpenAI from "openai";
import { jsonLog } from "../../../server/kernel/log.ts";
import { openDatabase } from "../../../server/store/database.ts";
import { rowOf, rowsOf, type Served, serveModels } from "../../support/worlds/admin.ts";
import { type ResponseVendor, startResponseVendor } from "../../support/vendors/response-vendor.ts";
import { until } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";

/** Background responses: who may read their answers, and that their cost is recorded once. */
const PRICED = { mode: "responses", modes: ["responses", "chat"], input_cost_per_million_tokens: 10, output_cost_per_million_tokens: 20 };
/** 1,000 input and 500 output tokens at these prices. */
const COST = 0.02;
let world: World;
let vendor: ResponseVendor;

beforeAll(async () => {
  vendor = startResponseVendor();
  world = await startWorld();
});

afterAll(async () => {
  await world.end();
  await vendor.stop();
});

async function team(name: string, more: object = {}): Promise<Served & { openai: OpenAI }> {
  const models = ["m", "slow", "calls"].map((model) => ({ name: `${model}-${name}`, model_name: model, ...PRICED, ...more }));
  const served = await serveModels(world.admin, `${vendor.origin}/v1`, models, {
    group: name,
    providerKey: name,
    apiKey: `account-${name}`,
  });
  return { ...served, openai: clientOf(served.apiKey) };
}

const clientOf = (apiKey: string) => new OpenAI({ apiKey, baseURL: `${world.gateway.runtimeUrl}/v1/proxy/llm`, maxRetries: 0 });
const failure = (asked: PromiseLike<unknown>): Promise<any> =>
  Promise.resolve(asked).then(
    () => null,
    (error: unknown) => error,
  );
const endsOf = async (id: string, atLeast: number) =>
  (await rowsOf(world.admin, { proxy_subtype: "response_end" }, atLeast)).filter(
    ({ custom_metadata: told }) => told.response_end.response_id === id,
  );
const endOf = (id: string) =>
  until(
    () => endsOf(id, 0),
    (rows) => rows.length > 0,
  ).then(([row]) => row);
const usedBy = async (groupId: string, limitType: string): Promise<number> => {
  const { limits } = await world.admin.get(`/v1/admin/resource-groups/${groupId}/consumption`);
  return limits.find(({ limit_type: type }: { limit_type: string }) => type === limitType).current;
};
const spentBy = (groupId: string) => usedBy(groupId, "daily_budget");

test("a background response is polled to its end and metered in one row, however often it is retrieved", async () => {
  const { openai, models } = await team("polled");
  const labels = { "x-gw-labels": "team=thinkers" };
  const made = await openai.responses.create({ model: "m-polled", input: "Think", background: true }, { headers: labels });
  expect(made.status).toBe("queued");
  expect((await openai.responses.retrieve(made.id)).status).toBe("queued");
  expect((await failure(openai.responses.delete(made.id))).status).toBe(409);
  vendor.finish("The long answer");
  for (let i = 0; i < 4; i++) expect((await openai.responses.retrieve(made.id)).output_text).toBe("The long answer");
  const end = await endOf(made.id);
  expect(end).toMatchObject({ llm_prompt_tokens: 1000, llm_completion_tokens: 500, llm_estimated_cost_usd: COST, llm_provider: "polled" });
  expect(end.custom_metadata.labels).toEqual({ team: "thinkers" });
  const created = await rowOf(world.admin, { proxy_subtype: "responses", llm_model_requested: "m-polled" });
  expect([created.llm_total_tokens ?? null, end.parent_request_id]).toEqual([null, created.id]);
  const asked = await rowsOf(world.admin, { proxy_subtype: "response_retrieve", llm_model_requested: models["m-polled"] }, 5);
  expect(asked.map(({ llm_total_tokens: tokens }) => tokens ?? null)).toEqual(asked.map(() => null));
  await until(
    () => failure(openai.responses.delete(made.id)),
    (error) => error === null,
  );
  expect((await endsOf(made.id, 1)).length).toBe(1);
});

test("a background response is metered if it is never retrieved, and if it is cancelled", async () => {
  const { openai } = await team("silent");
  const made = await openai.responses.create({ model: "m-silent", input: "Think", background: true });
  vendor.finish();
  expect((await endOf(made.id)).llm_estimated_cost_usd).toBe(COST);
  const off = await openai.responses.create({ model: "m-silent", input: "Think", background: true });
  expect((await openai.responses.cancel(off.id)).status).toBe("cancelled");
  expect((await endOf(off.id)).custom_metadata.response_end.status).toBe("cancelled");
});

test("a background response in a higher-priced service tier is charged its price, and its row names the tier", async () => {
  const { openai } = await team("dear");
  const made = await openai.responses.create({ model: "m-dear", input: "Think", background: true, service_tier: "priority" });
  vendor.finish();
  const { llm_estimated_cost_usd: cost, custom_metadata: told } = await endOf(made.id);
  expect([cost, told.service_tier]).toEqual([COST * 2.5, "priority"]);
});

test("a background stream read to its end is metered by its call's row, an abandoned one by a separate row", async () => {
  const { openai } = await team("streamed");
  const ids: string[] = [];
  for await (const event of await openai.responses.create({ model: "m-streamed", input: "Hi", background: true, stream: true }))
    if (event.type === "response.created") ids.push(event.response.id);
  const whole = await rowOf(world.admin, { llm_model_requested: "m-streamed" });
  expect(whole).toMatchObject({ llm_prompt_tokens: 1000, llm_completion_tokens: 500, llm_estimated_cost_usd: COST });
  const left = await openai.responses.create({ model: "slow-streamed", input: "Hi", background: true, stream: true });
  let last = -1;
  for await (const event of left) {
    if (event.type === "response.created") ids.push(event.response.id);
    last = event.sequence_number;
    if (event.type === "response.output_text.delta") break;
  }
  left.controller.abort();
  const torn = await rowOf(world.admin, { llm_model_requested: "slow-streamed" });
  expect([torn.error_type, torn.llm_total_tokens ?? null]).toEqual(["client_disconnected", null]);
  vendor.finish();
  const rest: string[] = [];
  for await (const event of await openai.responses.retrieve(ids[1] as string, { stream: true, starting_after: last }))
    rest.push(event.type);
  expect([rest[0], rest.at(-1)]).toEqual(["response.output_text.done", "response.completed"]);
  expect((await endOf(ids[1] as string)).llm_estimated_cost_usd).toBe(COST);
  expect(await endsOf(ids[0] as string, 1)).toEqual([]);
});

test("an abandoned background stream is metered even if its record could not be inserted when it began", async () => {
  const { openai } = await team("unnoted");
  const { db, close } = openDatabase(world.databaseUrl, { log: jsonLog("error"), max: 1 });
  await sql`CREATE FUNCTION refuse_row() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not now'; END $$`.execute(db);
  await sql`CREATE TRIGGER refuse_rows BEFORE INSERT ON stored_responses FOR EACH ROW EXECUTE FUNCTION refuse_row()`.execute(db);
  let id = "";
  const left = await openai.responses.create({ model: "slow-unnoted", input: "Hi", background: true, stream: true });
  for await (const event of left) {
    if (event.type === "response.created") id = event.response.id;
    if (event.type === "response.output_text.delta") break;
  }
  left.controller.abort();
  await rowOf(world.admin, { llm_model_requested: "slow-unnoted" });
  await sql`DROP TRIGGER refuse_rows ON stored_responses`.execute(db);
  await close();
  vendor.finish();
  expect((await endOf(id)).llm_estimated_cost_usd).toBe(COST);
});

test("an abandoned background stream with store false is metered by its call's row", async () => {
  const { openai } = await team("unstored");
  const left = await openai.responses.create({ model: "slow-unstored", input: "Hi there", background: true, stream: true, store: false });
  for await (const event of left) if (event.type === "response.output_text.delta") break;
  left.controller.abort();
  const torn = await rowOf(world.admin, { llm_model_requested: "slow-unstored" });
  expect([torn.error_type, torn.llm_prompt_tokens > 0, torn.llm_completion_tokens > 0]).toEqual(["client_disconnected", true, true]);
  vendor.finish();
});

test("guardrails inspect a background response when it is first read, and the input it is listed with", async () => {
  const { openai, groupId } = await team("guarded");
  await world.admin.post("/v1/admin/guardrails/configs", {
    ...{ tenant_id: "default", name: "words of answers", enabled: true, group_ids: [groupId], surfaces: { chat_output: true } },
    builtin: { pii_enabled: true, pii_action: "redact", banned_words: ["project titan"] },
  });
  const made = await openai.responses.create({ model: "m-guarded", input: "Write to jane.doe@example.com", background: true });
  vendor.finish("Mail it to jane.doe@example.com");
  expect((await openai.responses.retrieve(made.id)).output_text).not.toContain("jane.doe");
  expect(JSON.stringify(await openai.responses.inputItems.list(made.id))).not.toContain("jane.doe");
  let streamed = "";
  for await (const event of await openai.responses.retrieve(made.id, { stream: true }))
    if (event.type === "response.output_text.delta") streamed += event.delta;
  expect([streamed.includes("Mail it to"), streamed.includes("jane.doe")]).toEqual([true, false]);
  const bad = await openai.responses.create({ model: "m-guarded", input: "Hi", background: true });
  vendor.finish("This is Project Titan");
  expect((await failure(openai.responses.retrieve(bad.id))).status).toBe(403);
  expect(await rowOf(world.admin, { proxy_subtype: "response_retrieve", http_status_code: 403 })).toMatchObject({
    guardrail_blocked: true,
  });
});

test("tool call policies apply to a retrieved response", async () => {
  const { openai, groupId } = await team("bounded");
  const govern = (tool_use: object) =>
    world.admin.request("PATCH", `/v1/admin/resource-groups/${groupId}/llm-global-governance`, { governance: { tool_use } });
  const made = await openai.responses.create({ model: "calls-bounded", input: "Pay", background: true });
  vendor.finish();
  expect((await openai.responses.retrieve(made.id)).output[0]?.type).toBe("function_call");
  expect((await govern({ max_tool_calls_per_request: 0 })).status).toBe(200);
  expect((await failure(openai.responses.retrieve(made.id))).message).toContain("tool call");
  expect((await govern({ mode: "approval_required" })).status).toBe(200);
  expect((await failure(openai.responses.retrieve(made.id))).message).toContain("approval");
});

test("listing input items that include a tool call denied by a policy is refused", async () => {
  const { openai, groupId } = await team("curious");
  const policy = { name: "Small sums", target: "pay", argument_key: "amount", analyzer: "values", group_ids: [groupId] };
  const rules = [{ deny_if: "in", values: ["5"], message: "Too much." }];
  const made = await openai.responses.create({ model: "calls-curious", input: "Pay", background: true });
  vendor.finish();
  const next = await openai.responses.create({ model: "m-curious", input: "What was it?", previous_response_id: made.id });
  expect(JSON.stringify(await openai.responses.inputItems.list(next.id))).toContain("amount");
  const { id } = await world.admin.post("/v1/admin/argument-policies", { tenant_id: "default", ...policy, rules });
  const told = [() => openai.responses.retrieve(made.id), () => openai.responses.inputItems.list(next.id)];
  for (const asked of told) expect((await failure(asked())).message).toContain("Too much.");
  await world.admin.request("DELETE", `/v1/admin/argument-policies/${id}`);
  expect(JSON.stringify(await openai.responses.inputItems.list(next.id))).toContain("amount");
  const governance = { tool_use: { mode: "approval_required" } };
  await world.admin.request("PATCH", `/v1/admin/resource-groups/${groupId}/llm-global-governance`, { governance });
  for (const asked of told) expect((await failure(asked())).message).toContain("approval");
  expect(JSON.stringify(await openai.responses.inputItems.list(made.id))).toContain("Pay");
});

test("a budget holds the worst case of a background response until its cost is known", async () => {
  const { openai, groupId } = await team("frugal", { max_output_tokens: 1000 });
  const limits = { llm_global_limits: { budget: { daily_limit_usd: 0.035, hard_stop: true } } };
  expect((await world.admin.request("PATCH", `/v1/admin/resource-groups/${groupId}/llm-global-limits`, limits)).status).toBe(200);
  const ask = () => openai.responses.create({ model: "m-frugal", input: "Hi", background: true, max_output_tokens: 1000 });
  const first = await ask();
  // It may cost $0.02, and while it may, a second one does not fit.
  expect((await failure(ask())).status).toBe(429);
  vendor.finish();
  expect((await endOf(first.id)).llm_estimated_cost_usd).toBe(COST);
  await until(
    () => spentBy(groupId),
    (spent) => Math.abs(spent - COST) < 1e-6,
  );
  const short = await openai.responses.create({ model: "m-frugal", input: "Hi", background: true, max_output_tokens: 100 });
  expect(short.status).toBe("queued");
});

test("a background response counts as one request of a quota, however often it is retrieved", async () => {
  const { openai, groupId } = await team("once");
  const limits = { llm_global_limits: { requests: { daily_limit: 2 }, tokens: { daily_limit: 100_000 } } };
  expect((await world.admin.request("PATCH", `/v1/admin/resource-groups/${groupId}/llm-global-limits`, limits)).status).toBe(200);
  const made = await openai.responses.create({ model: "m-once", input: "Think", background: true });
  for (let i = 0; i < 3; i++) expect((await openai.responses.retrieve(made.id)).status).toBe("queued");
  await openai.responses.inputItems.list(made.id);
  vendor.finish();
  await endOf(made.id);
  await until(
    () => usedBy(groupId, "daily_tokens"),
    (tokens) => tokens === 1500,
  );
  expect(await usedBy(groupId, "daily_requests")).toBe(1);
});

test("run ceilings count background responses while they run and once their usage is known", async () => {
  const { openai, groupId } = await team("enveloped", { max_output_tokens: 1000 });
  const ceilings = { run_ceilings: { max_tokens_per_run: 2000 } };
  expect((await world.admin.request("PATCH", `/v1/admin/resource-groups/${groupId}/run-ceilings`, ceilings)).status).toBe(200);
  const CEILING = "max_tokens_per_run";
  const inRun = (run: string) => ({ headers: { "x-gw-run-id": run } });
  const ask = (run: string, background: boolean) =>
    openai.responses.create({ model: "m-enveloped", input: "Hi", background, max_output_tokens: 1000 }, inRun(run));
  const first = await ask("one", true);
  for (const background of [true, false]) expect((await failure(ask("one", background))).message).toContain(CEILING);
  vendor.finish();
  await endOf(first.id);
  // It used 1,500 of 2,000.
  await until(
    () => failure(openai.responses.create({ model: "m-enveloped", input: "Hi", max_output_tokens: 100 }, inRun("one"))),
    (error) => error === null,
  );
  expect((await failure(ask("one", false))).message).toContain(CEILING);

  const stream = { model: "slow-enveloped", input: "Hi", background: true, stream: true, max_output_tokens: 1000 } as const;
  const left = await openai.responses.create(stream, inRun("left"));
  let id = "";
  for await (const event of left) {
    if (event.type === "response.created") id = event.response.id;
    if (event.type === "response.output_text.delta") break;
  }
  left.controller.abort();
  // Only now is it recorded as a call whose caller disconnected.
  await rowOf(world.admin, { llm_model_requested: "slow-enveloped", error_type: "client_disconnected" });
  vendor.finish();
  await endOf(id);
  await until(
    () => failure(ask("left", true)),
    (error) => error?.message.includes(CEILING) === true,
  );
});

test("a provider that answers with another account's response ID gets 502, and the owner's record stays", async () => {
  const [mine, theirs] = [await team("mine"), await team("theirs")];
  const made = await mine.openai.responses.create({ model: "m-mine", input: "Hi", background: true });
  vendor.nextId = made.id;
  const taken = await failure(theirs.openai.responses.create({ model: "m-theirs", input: "Hi", background: true }));
  expect([taken.status, taken.message]).toEqual([502, expect.any(String)]);
  expect((await failure(theirs.openai.responses.retrieve(made.id))).status).toBe(404);
  expect((await rowOf(world.admin, { llm_model_requested: "m-theirs" })).error_type).toBe("upstream_invalid_response");
  vendor.finish();
});

test("a response its provider no longer knows is settled; an invalid answer leaves it open", async () => {
  const { openai } = await team("lost");
  const made = await openai.responses.create({ model: "m-lost", input: "Hi there", background: true });
  vendor.lie = () => ({
    id: "resp_another",
    object: "response",
    status: "completed",
    output: [],
    usage: { input_tokens: 1, output_tokens: 1 },
  });
  await until(
    async () => vendor.kept.get(made.id)?.polls ?? 0,
    (polls) => polls >= 2,
  );
  expect(await endsOf(made.id, 0)).toEqual([]);
  vendor.lie = null;
  vendor.kept.delete(made.id);
  expect((await endOf(made.id)).llm_prompt_tokens).toBeGreaterThan(0);
});
