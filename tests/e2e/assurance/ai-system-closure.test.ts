import { afterAll, beforeAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { controlPlane, newTenant, type ControlPlane, type Send } from "../admin/admin-harness.ts";

/** The digests in a contract can be recomputed from the admin log alone, by anyone who has it. */
let plane: ControlPlane;
let owner: Send;

beforeAll(async () => {
  plane = await controlPlane();
  owner = (await newTenant(plane, "acme")).send;
});
afterAll(() => plane.close());

const made = async (path: string, body: object) => (await owner("POST", path, body)).body;

/** RFC 8785, implemented from the RFC. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const names = Object.keys(value).sort((a, b) => Buffer.compare(Buffer.from(a, "utf16le").swap16(), Buffer.from(b, "utf16le").swap16()));
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical((value as Record<string, unknown>)[name])}`).join(",")}}`;
}

/** Members that do not affect what a record permits, as listed in the guide. */
const BESIDE = [
  ...["created_at", "updated_at", "is_healthy", "health_checked_at", "discovered_at", "tools", "group_ids", "resource_group_ids"],
  ...[
    "document_count",
    "ready_count",
    "tenant_id",
    "api_key",
    "credentials",
    "has_api_key",
    "api_key_hint",
    "has_credentials",
    "icon_url",
    "outdated",
  ],
];

/** The latest digest of a record in the admin log. */
async function digestInLog(resource: string, id: string): Promise<string> {
  const { entries } = (await owner("GET", `/v1/admin/admin-log?resource=${resource}&resource_id=${id}`)).body;
  const { after } = entries.find((entry: any) => entry.after !== null && ["create", "update"].includes(entry.action));
  const told = Object.fromEntries(
    Object.entries(after).filter(([name, value]) => !BESIDE.includes(name) && !(name === "fallback_on" && String(value) === "failure")),
  );
  return createHash("sha256").update(canonical(told)).digest("hex");
}

test("each digest in a contract equals that of the record in the admin log, and changes with the record", async () => {
  const group = await made("/v1/admin/resource-groups", { name: "system" });
  await made("/v1/admin/providers", { provider_key: "p", api_format: "echo" });
  const model = await made("/v1/admin/llms", { name: "m", provider: "p", api_key: "a-key-of-the-model", group_ids: [group.id] });
  await owner("PATCH", `/v1/admin/llms/${model.id}`, { default_temperature: 0.25, input_cost_per_million_tokens: 0.15 });
  const guardrail = await made("/v1/admin/guardrails/configs", { name: "g", builtin: { pii_enabled: true }, group_ids: [group.id] });
  const policy = await made("/v1/admin/argument-policies", {
    ...{ name: "a", target: "t", argument_key: "k", analyzer: "shell" },
    rules: [{ deny_if: "chaining", message: "no" }],
  });
  const inWords = await made("/v1/admin/semantic-policies", { name: "s", constraint_text: "Be kind." });
  const embeds = await made("/v1/admin/llms", { name: "e", provider: "p", mode: "embedding", group_ids: [group.id] });
  const base = await made("/v1/admin/knowledgebases", { name: "k", embedding_model_id: embeds.id, group_ids: [group.id] });
  const cache = await made("/v1/admin/semantic-cache/configs", { name: "c" });
  await owner("POST", `/v1/admin/semantic-cache/configs/${cache.id}/groups`, { group_ids: [group.id] });
  await made("/v1/admin/llm-router/routing-groups", { id: "router" });
  await owner("PATCH", `/v1/admin/llms/${model.id}`, { routing_group_id: "router", routing_weight: 3 });
  await owner("POST", "/v1/admin/ai-systems", { group_id: group.id });
  const { clauses, digest } = await made(`/v1/admin/ai-systems/${group.id}/contracts`, {});
  const told = {
    model: clauses.models[model.id].digest,
    guardrail: clauses.guardrails[guardrail.id].digest,
    policy: clauses.argument_policies[policy.id].digest,
    inWords: clauses.semantic_policies[inWords.id].digest,
    base: clauses.knowledge_bases[base.id].digest,
    cache: clauses.semantic_caches[cache.id].digest,
  };
  expect(told).toEqual({
    model: await digestInLog("models", model.id),
    guardrail: await digestInLog("guardrail-configs", guardrail.id),
    policy: await digestInLog("argument-policies", policy.id),
    inWords: await digestInLog("semantic-policies", inWords.id),
    base: await digestInLog("knowledgebases", base.id),
    cache: await digestInLog("semantic-cache-configs", cache.id),
  });
  expect(clauses.routing_groups.router.members).toEqual({ [model.id]: 3 });
  const document = { schema: "ai.gw/contract/v1", ai_system_id: group.id, clauses };
  expect(createHash("sha256").update(canonical(document)).digest("hex")).toBe(digest);

  // A system with the same configuration gets a different contract with the same clauses; granting a record to other groups changes no
  // clause.
  const other = await made("/v1/admin/resource-groups", { name: "other" });
  await owner("PATCH", `/v1/admin/llms/${model.id}`, { group_ids: [group.id, other.id] });
  expect((await made(`/v1/admin/ai-systems/${group.id}/contracts`, {})).digest).toBe(digest);
  await owner("PATCH", `/v1/admin/llms/${model.id}`, { api_key: "another-key-of-the-model" });
  expect((await made(`/v1/admin/ai-systems/${group.id}/contracts`, {})).digest).toBe(digest);
  await owner("PATCH", `/v1/admin/llms/${model.id}`, { default_temperature: 0.5 });
  const changed = await made(`/v1/admin/ai-systems/${group.id}/contracts`, {});
  expect(changed.digest).not.toBe(digest);
  await owner("PATCH", `/v1/admin/knowledgebases/${base.id}`, { group_ids: [] });
  const live = (await owner("GET", `/v1/admin/ai-systems/${group.id}/contracts/${changed.version}/diff?against=live`)).body;
  expect(live.changes.map(({ clause, path, change }: any) => [clause, path, change])).toEqual([["knowledge_bases", base.id, "narrowed"]]);
  const diff = (await owner("GET", `/v1/admin/ai-systems/${group.id}/contracts/${changed.version}/diff`)).body;
  expect([diff.overall, diff.changes.map(({ clause, path, change }: any) => [clause, path, change])]).toEqual([
    "widened",
    [["models", model.id, "changed"]],
  ]);
});
