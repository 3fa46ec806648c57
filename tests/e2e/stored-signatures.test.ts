import { afterAll, beforeAll, expect, test } from "bun:test";
import OpenAI from "openai";
import { signIn } from "../support/admin.ts";
import { type TestDatabase, testDatabase } from "../support/database.ts";
import { type GatewayProcess, removeDirectory, startGateway } from "../support/gateway.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { AFTER_TOOL, TEXT, TOOL } from "../support/vendors/scene.ts";
import { TOOL_NAME, TOOL_SCHEMA } from "../support/vendors/sdk.ts";
import { type RunningVendors, startVendors, VENDOR_KEY } from "../support/vendors/vendors.ts";
import { until } from "../support/until.ts";

/** A tool loop that begins at one process and ends at another: the fake Gemini refuses a history without its signature. */
const env = { GW_SECRET_KEY: Buffer.alloc(32, 7).toString("base64") };
let database: TestDatabase;
let vendors: RunningVendors;
let first: GatewayProcess;
let second: GatewayProcess;
let apiKey: string;

beforeAll(async () => {
  database = await testDatabase();
  vendors = startVendors();
  first = await startGateway({ databaseUrl: database.url, env });
  second = await startGateway({ databaseUrl: database.url, env });
  const admin = await signIn(first.adminUrl);
  const group = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "team", group_type: "team" });
  await admin.post("/v1/admin/providers", {
    tenant_id: "default",
    provider_key: "fake",
    api_format: "gemini",
    base_url: vendors.baseUrl("gemini"),
    api_key: VENDOR_KEY,
  });
  await admin.post("/v1/admin/llms", {
    tenant_id: "default",
    name: "thinker",
    model_name: "gemini-3-fake",
    provider: "fake",
    group_ids: [group.id],
  });
  ({ key_value: apiKey } = await admin.post(`/v1/admin/resource-groups/${group.id}/api-keys`, { name: "key", access_mode: "shared" }));
  const models = () => fetch(`${second.runtimeUrl}/v1/proxy/llm/models`, { headers: { "x-api-key": apiKey } });
  await until(
    async () => (await models()).text(),
    (text) => text.includes("thinker"),
  );
});

afterAll(async () => {
  for (const gateway of [first, second]) {
    await gateway.stop();
    await removeDirectory(gateway.dataDir);
  }
  await vendors.stop();
  await database.close();
});

test.each([false, true])("another process knows what a call was signed with (streamed: %p)", async (stream) => {
  const clientOf = ({ runtimeUrl }: GatewayProcess) => new OpenAI({ baseURL: `${runtimeUrl}/v1/proxy/llm`, apiKey, maxRetries: 0 });
  const asked = { model: "thinker", tools: [{ type: "function" as const, function: { name: TOOL_NAME, parameters: TOOL_SCHEMA } }] };
  const question: OpenAI.ChatCompletionMessageParam = { role: "user", content: "What is the weather?" };
  const { completions } = clientOf(first).chat;
  const message = stream
    ? await completions.stream({ ...asked, messages: [question] }).finalMessage()
    : (await completions.create({ ...asked, messages: [question] })).choices[0]?.message;
  const [call] = message?.tool_calls ?? [];
  expect(call).toMatchObject({ function: { name: TOOL.name } });
  const history: OpenAI.ChatCompletionMessageParam[] = [
    question,
    { role: "assistant", content: null, tool_calls: message?.tool_calls ?? [] },
    { role: "tool", tool_call_id: call?.id ?? "", content: "4" },
  ];
  const answer = await clientOf(second).chat.completions.create({ ...asked, messages: history });
  expect(answer.choices[0]?.message.content).toBe(AFTER_TOOL);
});

test.each([false, true])("another process knows the items an answer was made of (streamed: %p)", async (stream) => {
  const clientOf = ({ runtimeUrl }: GatewayProcess) => new OpenAI({ baseURL: `${runtimeUrl}/v1/proxy/llm`, apiKey, maxRetries: 0 });
  const { responses } = clientOf(first);
  const said = stream
    ? await responses.stream({ model: "thinker", input: "Hello" }).finalResponse()
    : await responses.create({ model: "thinker", input: "Hello" });
  // What an answer leaves is written behind it: the next answer of the process waits for nothing of that.
  let answer: OpenAI.Responses.Response | null = null;
  const input: OpenAI.Responses.ResponseInput = [
    { role: "user", content: "Hello" },
    { type: "item_reference", id: said.output[0]?.id as string },
    { role: "user", content: "And now?" },
  ];
  for (const end = Date.now() + PATIENCE_MS; answer === null && Date.now() < end; await Bun.sleep(100))
    answer = await clientOf(second)
      .responses.create({ model: "thinker", input })
      .catch(() => null);
  expect(answer?.output_text).toBe(TEXT);
});
