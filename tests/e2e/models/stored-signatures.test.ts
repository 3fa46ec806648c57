import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import OpenAI from "openai";
import { type AdminClient, signIn } from "../../support/worlds/admin.ts";
import { type TestDatabase, testDatabase } from "../../support/database.ts";
import { type GatewayProcess, removeDirectory, startGateway } from "../../support/gateway.ts";
import { AFTER_TOOL, TEXT, TOOL } from "../../support/vendors/scene.ts";
import { TOOL_NAME, TOOL_SCHEMA } from "../../support/vendors/sdk.ts";
import { type RunningVendors, startVendors, VENDOR_KEY } from "../../support/vendors/vendors.ts";
import { servedBy, until } from "../../support/until.ts";

/** A tool loop that begins at one process and ends at another: the fake Gemini refuses a history without its signature. */
const env = { GW_SECRET_KEY: Buffer.alloc(32, 7).toString("base64") };
let database: TestDatabase;
let vendors: RunningVendors;
let first: GatewayProcess;
let second: GatewayProcess;
let admin: AdminClient;
let groupId: string;

beforeAll(async () => {
  database = await testDatabase();
  vendors = startVendors();
  first = await startGateway({ databaseUrl: database.url, env });
  second = await startGateway({ databaseUrl: database.url, env });
  admin = await signIn(first.adminUrl);
  ({ id: groupId } = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "team", group_type: "team" }));
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
    group_ids: [groupId],
  });
});

afterAll(async () => {
  for (const gateway of [first, second]) {
    await gateway.stop();
    await removeDirectory(gateway.dataDir);
  }
  await vendors.stop();
  await database.close();
});

/** A separate key for each test, so that tests do not affect each other. */
async function newKey(): Promise<string> {
  const { key_value } = await admin.post(`/v1/admin/resource-groups/${groupId}/api-keys`, {
    name: crypto.randomUUID(),
    access_mode: "shared",
  });
  await servedBy([second], "thinker", key_value);
  return key_value;
}

const clientOf = ({ runtimeUrl }: GatewayProcess, apiKey: string) =>
  new OpenAI({ baseURL: `${runtimeUrl}/v1/proxy/llm`, apiKey, maxRetries: 0 });

/** A tool loop whose second call reaches the other process as soon as the first is answered. */
async function toolLoop(apiKey: string, stream: boolean): Promise<string | null | undefined> {
  const asked = { model: "thinker", tools: [{ type: "function" as const, function: { name: TOOL_NAME, parameters: TOOL_SCHEMA } }] };
  const question: OpenAI.ChatCompletionMessageParam = { role: "user", content: "What is the weather?" };
  const { completions } = clientOf(first, apiKey).chat;
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
  const answer = await clientOf(second, apiKey).chat.completions.create({ ...asked, messages: history });
  return answer.choices[0]?.message.content;
}

test.each([false, true])("another process has the signature of a tool call (streamed: %p)", async (stream) => {
  expect(await toolLoop(await newKey(), stream)).toBe(AFTER_TOOL);
});

test.each([false, true])("an answer ends only once another process can continue it (streamed: %p)", async (stream) => {
  const apiKey = await newKey();
  let loop: Promise<string | null | undefined> | undefined;
  await database.db.transaction().execute(async (transaction) => {
    await sql`LOCK TABLE kept_signatures IN SHARE ROW EXCLUSIVE MODE`.execute(transaction);
    loop = toolLoop(apiKey, stream);
    loop.catch(() => undefined);
    await until(
      () => sql`SELECT FROM pg_locks WHERE relation = 'kept_signatures'::regclass AND NOT granted`.execute(transaction),
      ({ rows }) => rows.length > 0,
    );
    // Long enough for a loop that does not wait to finish.
    for (let turn = 0; turn < 2; turn++) await servedBy([first, second], "thinker", apiKey);
  });
  expect(await loop).toBe(AFTER_TOOL);
});

test.each([false, true])("another process has the items of an answer (streamed: %p)", async (stream) => {
  const apiKey = await newKey();
  const { responses } = clientOf(first, apiKey);
  const said = stream
    ? await responses.stream({ model: "thinker", input: "Hello" }).finalResponse()
    : await responses.create({ model: "thinker", input: "Hello" });
  const input: OpenAI.Responses.ResponseInput = [
    { role: "user", content: "Hello" },
    { type: "item_reference", id: said.output[0]?.id as string },
    { role: "user", content: "And now?" },
  ];
  const answer = await clientOf(second, apiKey).responses.create({ model: "thinker", input });
  expect(answer.output_text).toBe(TEXT);
});
