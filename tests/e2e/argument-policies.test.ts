import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rowOf } from "../support/admin.ts";
import type { ClientId, ProviderId } from "../support/vendors/matrix.ts";
import { TOOL, USAGE } from "../support/vendors/scene.ts";
import { startSdkWorld, type SdkWorld } from "../support/vendors/sdk-world.ts";

/** Every text surface by its official client: a call of the model's is let through, marked or denied, whole and streamed. */
let world: SdkWorld;

const MESSAGE = "This city is not to be asked for.";
const rule = (deny_if: string, values?: readonly string[]) => [{ deny_if, message: MESSAGE, ...(values === undefined ? {} : { values }) }];
const city = (name: string) => ({ type: "object", properties: { city: { enum: [name] } }, required: ["city"] });

/** On the fake vendors' one call, `weather` with the city Oslo. */
const POLICIES = {
  "values allow": { outcome: "allow", policy: { argument_key: "city", analyzer: "values", rules: rule("in", ["Paris"]) } },
  "values deny": { outcome: "deny", policy: { argument_key: "city", analyzer: "values", rules: rule("in", ["Oslo"]) } },
  "values warn": { outcome: "warn", policy: { argument_key: "city", analyzer: "values", severity: "warn", rules: rule("in", ["Oslo"]) } },
  "json_schema allow": { outcome: "allow", policy: { analyzer: "json_schema", schema: city("Oslo"), rules: rule("invalid") } },
  "json_schema deny": { outcome: "deny", policy: { analyzer: "json_schema", schema: city("Paris"), rules: rule("invalid") } },
  "sql deny": { outcome: "deny", policy: { argument_key: "city", analyzer: "sql", rules: [...rule("writes"), ...rule("unparseable")] } },
  "shell allow": { outcome: "allow", policy: { argument_key: "city", analyzer: "shell", rules: rule("chaining") } },
  "path allow": { outcome: "allow", policy: { argument_key: "city", analyzer: "path", rules: rule("traversal") } },
  "url deny": { outcome: "deny", policy: { argument_key: "city", analyzer: "url", rules: [...rule("private_address"), ...rule("unparseable")] } },
  "another tool's": { outcome: "none", policy: { target: "forecast", argument_key: "city", analyzer: "values", rules: rule("in", ["Oslo"]) } },
} as const;
type Case = keyof typeof POLICIES;

const keys = new Map<Case, { readonly apiKey: string; readonly apiKeyId: string; readonly policyId: string }>();

beforeAll(async () => {
  world = await startSdkWorld();
  const { admin } = world;
  const tenant = { tenant_id: "default" };
  const { resource_groups: groups } = await admin.get("/v1/admin/resource-groups?tenant_id=default&search=team");
  for (const [name, { policy }] of Object.entries(POLICIES)) {
    // Bound to a group, it holds for the group below it.
    const parent = await admin.post("/v1/admin/resource-groups", { ...tenant, name: `parent of ${name}`, parent_group_id: groups[0].id });
    const group = await admin.post("/v1/admin/resource-groups", { ...tenant, name, parent_group_id: parent.id });
    const made = await admin.post("/v1/admin/argument-policies", { ...tenant, name, target: TOOL.name, group_ids: [parent.id], ...policy });
    const key = await admin.post(`/v1/admin/resource-groups/${group.id}/api-keys`, { name, access_mode: "shared" });
    keys.set(name as Case, { apiKey: key.key_value, apiKeyId: key.id, policyId: made.id });
  }
}, 90_000);

afterAll(() => world.end());

const WAYS: readonly (readonly [ClientId, ProviderId])[] = [
  ["openai chat", "openai"],
  ["openai responses", "openai-responses"],
  ["anthropic 1", "anthropic"],
  ["google genai", "gemini"],
  // Translated.
  ["openai chat", "anthropic"],
  ["openai responses", "gemini"],
  ["anthropic 1", "openai"],
  ["google genai", "bedrock"],
];

const table = (Object.keys(POLICIES) as Case[]).flatMap((name) => WAYS.flatMap(([client, provider]) => [false, true].map((stream) => [name, client, provider, stream] as const)));

async function failureOf(asked: Promise<unknown>): Promise<unknown> {
  return asked.then(
    () => null,
    (error: unknown) => error,
  );
}

describe("a tool call under a policy", () => {
  test.each(table)("%s: %s against %s (streamed: %p)", async (name, client, provider, stream) => {
    const { apiKey, apiKeyId, policyId } = keys.get(name) as NonNullable<ReturnType<typeof keys.get>>;
    const { outcome } = POLICIES[name];
    const sdk = world.clientsOf(apiKey).sdks[client];
    const before = Date.now();
    const asked = sdk.ask(`sdk-${provider}`, "tools", stream);
    if (outcome === "deny") {
      const error = await failureOf(asked);
      expect(error).toBeInstanceOf(Error);
      expect(String((error as Error).message)).toContain(MESSAGE);
      if (!stream) expect(sdk.statusOf(error)).toBe(403);
      expect(JSON.stringify(error) + String(error)).not.toContain("Oslo");
    } else {
      expect((await asked).tool).toEqual({ name: TOOL.name, arguments: TOOL.arguments });
    }
    const row = await latestRow(apiKeyId, before);
    expect({
      denied: row.argument_policy_denied,
      policy: row.argument_policy_id,
      error: row.error_type,
      status: row.http_status_code,
      tokens: row.llm_prompt_tokens,
      warned: (row.tags ?? []).includes("argument_policy_warned"),
    }).toEqual({
      denied: outcome === "none" ? null : outcome === "deny",
      policy: outcome === "deny" || outcome === "warn" ? policyId : null,
      error: outcome === "deny" ? "argument_policy_denied" : null,
      status: outcome === "deny" && !stream ? 403 : 200,
      // Usage is what the provider told, the answer given or not.
      tokens: USAGE.input,
      warned: outcome === "warn",
    });
    if (outcome === "deny") expect(row.error_message).toContain(MESSAGE);
  });
});

/** The row of the call just made; calls of one key follow one another. */
async function latestRow(apiKeyId: string, since: number): Promise<any> {
  const deadline = Date.now() + 10_000;
  for (;;) {
    const row = await rowOf(world.admin, { api_key_id: apiKeyId });
    if (Date.parse(row.timestamp) >= since - 5) return row;
    if (Date.now() > deadline) throw new Error("the row of the call is not there");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
