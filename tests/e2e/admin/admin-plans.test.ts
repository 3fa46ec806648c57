import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { OPERATIONS } from "../../../server/surfaces/admin/routes.ts";
import { controlPlane, newTenant, type ControlPlane, type Send } from "./admin-harness.ts";

/** A tool that manages configuration: it creates what it wants, reads it back, and finds nothing left to change. */

let plane: ControlPlane;
let owner: Send;
const made: Record<string, string> = {};

beforeAll(async () => {
  plane = await controlPlane();
  owner = (await newTenant(plane, "acme")).send;
  const id = async (name: string, path: string, body: object) => {
    const reply = await owner("POST", path, body);
    made[name] = reply.body.id ?? reply.body.user.id;
  };
  await id("group", "/v1/admin/resource-groups", { name: "g" });
  await id("provider", "/v1/admin/providers", { provider_key: "p", api_format: "echo" });
  await id("model", "/v1/admin/llms", { name: "m", provider: "p", modes: ["chat", "embedding"] });
  await id("routing", "/v1/admin/llm-router/routing-groups", { id: "r" });
  await id("server", "/v1/admin/mcp-servers", { name: "s", base_url: "http://s.example" });
  await id("agent", "/v1/admin/agents", { card_name: "a", name: "a", base_url: "http://a.example" });
  await id("governed", "/v1/admin/resource-groups", { name: "governed" });
  await id("system", "/v1/admin/resource-groups", { name: "system" });
  await owner("POST", "/v1/admin/ai-systems", { group_id: made.system });
  await id("knowledge", "/v1/admin/knowledgebases", { name: "k" });
  for (const name of ["skillA", "skillB"]) {
    const content = `---\nname: ${name.toLowerCase()}\ndescription: d\n---\n`;
    made[name] = (await owner("POST", "/v1/admin/agent-skills/import", { files: [{ path: "SKILL.md", content }] })).body.skill.id;
  }
  await id("user", "/v1/admin/end-users", { username: "u", password: "long enough" });
});
afterAll(() => plane.close());

const moment = "2099-01-01T00:00:00.000Z";
const text = { display_name: "Shown", description: "Told" };

/** A record of each kind with every member that its POST takes. */
const WANTED: Record<string, () => Record<string, unknown>> = {
  "/v1/admin/tenants": () => ({
    id: "wanted",
    name: "Wanted",
    display_name: "Shown",
    enabled: false,
    data_retention: { store_bodies: "full", body_days: 1, log_days: 2, run_days: 3, file_days: 4 },
    media_limits: { image_mb: 5, audio_mb: null, group_storage_mb: 100 },
    default_judge_model_id: null,
    allowed_regions: ["eu", "ca"],
    run_idle_minutes: 7,
    portal_registration: "closed",
    portal_api_keys: "on",
    admin_two_factor: "required",
    local_passwords: false,
    autonomy_floor: "restricted",
    legal_hold: "case 17",
  }),
  "/v1/admin/admin-users": () => ({
    username: "wanted",
    password: "long enough",
    email: "a@b.example",
    display_name: "Shown",
    role: "auditor",
    is_active: false,
    break_glass: true,
  }),
  "/v1/admin/end-users": () => ({
    username: "wanted",
    password: "long enough",
    email: "a@b.example",
    display_name: "Shown",
    metadata: { team: { name: "a", size: [1, 2] } },
    avatar_url: "https://pictures.example/a.png",
    primary_group_id: made.group,
    must_change_password: true,
    send_welcome_email: false,
  }),
  "/v1/admin/end-user-groups": () => ({ name: "wanted", ...text, initial_member_ids: [made.user] }),
  "/v1/admin/providers": () => ({
    provider_key: "wanted",
    name: "Wanted",
    api_format: "bedrock",
    base_url: "https://wanted.example/v1/",
    api_key: "a-key-that-is-wanted",
    headers: { "x-b": "2", "x-a": "1" },
    pass_request_headers: ["x-b", "x-a-*"],
    pass_response_headers: ["x-c"],
    max_tokens_parameter: "max_tokens",
    batch_mode: "provider",
    storage_uri: "s3://wanted/prefix",
    storage_endpoint: "https://store.wanted.example",
    storage_role_arn: "arn:aws:iam::123456789012:role/wanted",
    region: "eu",
    enabled: false,
  }),
  "/v1/admin/llms": () => ({
    name: "wanted",
    model_name: "wanted-by",
    provider: "p",
    modes: ["chat", "responses"],
    mode: "chat",
    enabled: false,
    description: "Told",
    base_url: "https://wanted.example/v1",
    api_key: "a-key-that-is-wanted",
    default_temperature: 0.3,
    default_max_tokens: 5,
    system_prompt: "Be kind.",
    input_cost_per_million_tokens: 0.15,
    output_cost_per_million_tokens: 0.6,
    cache_read_cost_per_million_tokens: 0.075,
    cache_write_cost_per_million_tokens: 1.25,
    cache_write_hour_cost_per_million_tokens: 2,
    audio_input_cost_per_million_tokens: 3,
    audio_output_cost_per_million_tokens: null,
    web_search_cost_per_thousand: 10,
    tool_prices: [{ tool: "file_search", usd_per_thousand: 2.5 }],
    search_unit_cost_per_thousand: 2,
    batch_price_factor: 0.4,
    price_tiers: [{ above_input_tokens: 200_000, input_cost_per_million_tokens: 0.3 }],
    price_changes: [{ effective_from: moment, input_cost_per_million_tokens: 1 }],
    service_tier_prices: [
      { service_tier: "priority", price_factor: 2, price_tiers: [{ above_input_tokens: 200_000, output_cost_per_million_tokens: 4 }] },
    ],
    image_cost: 0.04,
    audio_input_cost_per_second: 0.0001,
    audio_output_cost_per_million_characters: 15,
    video_cost_per_second: 0.1,
    image_input_cost_per_million_tokens: 8,
    image_output_cost_per_million_tokens: 30,
    image_cache_read_cost_per_million_tokens: 2,
    video_output_cost_per_million_tokens: null,
    image_prices: [{ quality: "high", size: "1024x1024", usd: 0.17 }, { usd: 0.04 }],
    video_prices: [{ resolution: "1080p", usd_per_second: 0.3 }],
    supported_image_qualities: ["high", "low"],
    supported_video_resolutions: ["720p"],
    supported_video_durations: [4, 8.5],
    max_video_duration_seconds: 8.5,
    context_window: 128_000,
    max_output_tokens: 4_096,
    supports_vision: true,
    supports_tools: false,
    supports_file_uploads: true,
    supports_streaming: false,
    supports_system_turns: false,
    supports_sampling: true,
    max_tokens_parameter: "max_completion_tokens",
    rate_limit_rpm: 1,
    rate_limit_tpm: 2,
    max_concurrent_requests: 3,
    residency_region: "eu",
    routing_group_id: made.routing,
    routing_weight: 0,
    fallback_on: ["failure", "context_window"],
    icon_url: "https://pictures.example/m.png",
    group_ids: [made.group],
  }),
  "/v1/admin/llm-router/routing-groups": () => ({
    id: "wanted-route",
    name: "Wanted route",
    description: "Told",
    mode: "embedding",
    routing_strategy: "ordered",
    enabled: false,
    allowed_fails: 1,
    cooldown_time: 1.5,
    cooldown_window: 2.5,
    num_retries: 0,
    retry_after: 0.5,
    timeout: 9.5,
    rpm_limit: 1,
    tpm_limit: 2,
    max_parallel_requests: 3,
  }),
  "/v1/admin/resource-groups": () => ({
    name: "wanted",
    ...text,
    group_type: "organization",
    inherit_resources: false,
    parent_group_id: made.group,
    eu_ai_act_risk_tier: "limited",
    phi_resource: false,
    default_knowledgebase_ids: [made.knowledge],
  }),
  "/v1/admin/mcp-servers": () => ({
    name: "wanted",
    description: "Told",
    base_url: "http://wanted.example/tools/",
    mcp_endpoint_path: "/there",
    auth_type: "bearer",
    api_key: "a-key-that-is-wanted",
    timeout: 12.5,
    enabled: false,
    icon_url: "https://pictures.example/s.png",
  }),
  "/v1/admin/server-configs": () => ({
    mcp_server_id: made.server,
    name: "wanted",
    ...text,
    display_description: "Shown and told",
    group_ids: [made.group],
    enabled: false,
    priority: -3,
    is_default: true,
    enabled_tools: ["b", "a"],
    disabled_tools: ["c"],
    approval_required_tools: ["*"],
    approval_timeout_seconds: 60,
    approver_group_ids: [made.group],
  }),
  "/v1/admin/virtual-servers": () => ({
    name: "wanted",
    ...text,
    enabled: false,
    mcp_server_ids: [made.server],
    members: [{ mcp_server_id: made.server, slug: "own" }],
    group_ids: [made.group],
  }),
  "/v1/admin/agents": () => ({
    card_name: "wanted",
    name: "Wanted",
    description: "Told",
    direction: "inbound",
    base_url: "https://wanted.example/a2a",
    card_url: "https://wanted.example/card.json",
    auth_type: "bearer",
    credentials: { value: "a-token-that-is-wanted" },
    card_keys: [{ kty: "OKP", crv: "Ed25519", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", kid: "wanted" }],
    card_keys_url: null,
    timeout: 7.5,
    enabled: false,
    skills_allowed: ["b", "a"],
    resource_group_id: made.group,
  }),
  "/v1/admin/agent-grants": () => ({
    agent_id: made.agent,
    group_ids: [made.group],
    skill_ids: ["b", "a"],
    decision: "approval_required",
    max_depth: 3,
    enabled: false,
    approval_timeout_seconds: 60,
    approver_group_ids: [made.group],
  }),
  "/v1/admin/identity-providers": () => ({
    name: "wanted",
    kind: "oidc",
    audience: "api",
    enabled: false,
    oidc: {
      issuer: "https://issuer.example.org",
      client_id: null,
      scopes: ["openid"],
      subject_claims: ["sub"],
      required_claims: { tid: ["b", "a"] },
    },
    saml: null,
    api: { audiences: ["gateway"], subjects: ["b", "a"], max_age_seconds: 600, resource_group_id: made.group },
    attributes: { username: "upn", email: "mail", display_name: "name", groups: "roles" },
    group_mappings: [{ group: "builders", end_user_group_id: null, role: null, resource_group_id: made.group }],
    required_group: "builders",
    allowed_domains: ["example.org"],
    create_accounts: false,
    scim_directory: null,
    suspends_api_keys: false,
    two_factor_at_provider: false,
    client_secret: "a secret of the plan's",
  }),
  "/v1/admin/scim-tokens": () => ({
    name: "wanted",
    directory: "wanted",
    adopt_existing: true,
    remove_all_members: true,
    expires_at: moment,
  }),
  "/v1/admin/guardrails/configs": () => ({
    name: "wanted",
    description: "Told",
    enabled: false,
    group_ids: [made.group],
    surfaces: { chat_input: true, mcp_output: false },
    builtin: { banned_words: ["b", "a"], pii_enabled: true, pii_categories: ["ssn", "email"] },
    providers: [{ provider: "webhook", endpoint: "https://engine.example/", api_key: "key", action: "warn" }],
  }),
  "/v1/admin/argument-policies": () => ({
    name: "wanted",
    description: "Told",
    surface: "llm_output_tool_calls",
    target: "run_query",
    argument_key: "sql",
    analyzer: "sql",
    severity: "warn",
    enabled: false,
    dialect: "mysql",
    read_functions: ["b", "a"],
    rules: [{ deny_if: "tables", message: "No.", values: ["z", "a"] }],
    schema: null,
    group_ids: [made.group],
  }),
  "/v1/admin/semantic-cache/configs": () => ({
    name: "wanted",
    enabled: false,
    exact_match: { enabled: false, ttl_seconds: 5 },
    semantic_match: { enabled: true, similarity_threshold: 0.9, ttl_seconds: 6 },
    embedding_model_id: made.model,
    scope: "tenant",
    max_temperature: 0.5,
    include_tools: true,
    group_ids: [made.group],
  }),
  "/v1/admin/assets": () => ({
    name: "wanted",
    asset_type: "other",
    description: "Told",
    owner: "The platform team",
    criticality: "high",
    tags: ["a", "b"],
    endpoint: "https://wanted.example",
  }),
  "/v1/admin/knowledgebases": () => ({
    name: "wanted",
    description: "Told",
    enabled: false,
    top_k: 7,
    similarity_threshold: 0.25,
    max_context_tokens: 500,
    embedding_model_id: null,
    indexing_group_id: made.group,
    group_ids: [made.group],
  }),
  "/v1/admin/kb-connectors": () => ({
    name: "wanted",
    knowledge_base_id: made.knowledge,
    connector_type: "git",
    location: "https://git.example/handbook.git",
    credential: "reader:wanted",
    mapping_file: "readers.json",
    every_minutes: 30,
    enabled: false,
  }),
  "/v1/admin/kb-identities": () => ({ end_user_id: made.user, connector_type: "git", source_identity: "ada" }),
  "/v1/admin/webhooks": () => ({
    name: "wanted",
    url: "https://hooks.example/T0/B0?token=wanted",
    format: "standard",
    signing_secret: `whsec_${Buffer.alloc(32, 7).toString("base64")}`,
    events: ["alert.raised"],
    enabled: false,
  }),
  "/v1/admin/web-search": () => ({
    name: "wanted",
    kind: "searxng",
    base_url: "http://searxng.example",
    api_key: "a-key-that-is-wanted",
    price_per_search_usd: 0.005,
    safe_search: "strict",
    country: "DE",
    language: "de",
    max_results: 5,
    timeout: 7.5,
    cache_seconds: 60,
    priority: 3,
    enabled: false,
  }),
  "/v1/admin/semantic-policies": () => ({
    name: "wanted",
    description: "Told",
    constraint_text: "Be kind.",
    action: "warn",
    mode: "shadow",
    surfaces: ["chat_output", "chat_input"],
    enabled: false,
    judge_model_id: made.model,
    on_judge_failure: "block",
    timeout_seconds: 2.5,
    resource_group_ids: [made.group],
  }),
  "/v1/admin/ai-systems": () => ({
    group_id: made.governed,
    owner: "Ada",
    purpose: "Answers questions",
    role: "deployer",
    risk_class: "high",
    data_classes: ["personal"],
    affected_people: "Applicants",
    oversight_person: "Grace",
    interacts_with_people: true,
  }),
  "/v1/admin/incident-windows": () => ({
    title: "wanted",
    severity: "sev2",
    reason: "Told",
    started_at: "2026-01-01T00:00:00.000Z",
    ended_at: moment,
    ai_system_id: made.system,
  }),
  "/v1/admin/ai-systems/{id}/evidence": () => ({
    kind: "impact_assessment",
    uri: "https://documents.example/assessment",
    sha256: "0a".repeat(32),
    title: "Told",
    assessor: "Somebody",
    validity: { from: "2026-01-01T00:00:00.000Z", until: moment },
  }),
  "/v1/admin/resource-groups/{id}/api-keys": () => ({
    name: "wanted",
    access_mode: "shared",
    scope: "user",
    end_user_id: made.user,
    expires_at: moment,
    allowed_skill_ids: [made.skillB, made.skillA],
    allowed_addresses: ["10.0.0.0/8", "2001:db8::1"],
  }),
};

/** Members that no read returns: secrets, and one-time actions. */
const UNREAD = [
  "password",
  "api_key",
  "client_secret",
  "credential",
  "credentials",
  "send_welcome_email",
  "initial_member_ids",
  "url",
  "signing_secret",
];
const creates = OPERATIONS.filter(
  ({ method, answer, path, body }) =>
    method === "POST" &&
    answer.status === 201 &&
    body !== undefined &&
    !/import$|erasure$|compliance\/reports$|contracts$|collector-keys$|response-policies$|\}\/incident-windows$/.test(path),
);

test("every kind of record is tested with all members of its POST body", () => {
  expect(creates.map(({ path }) => path).sort()).toEqual(Object.keys(WANTED).sort());
  for (const { path, body } of creates)
    expect([path, Object.keys(body?.shape ?? {}).sort()]).toEqual([path, Object.keys((WANTED[path] as () => object)()).sort()]);
});

describe.each(Object.keys(WANTED))("%s", (path) => {
  test("is read back as created; repeating it as a PATCH changes nothing, and fixed members are refused with 422", async () => {
    const send = path === "/v1/admin/tenants" ? plane.system : owner;
    const wanted = (WANTED[path] as () => Record<string, unknown>)();
    const parent = (path.startsWith("/v1/admin/ai-systems/") ? made.system : made.group) ?? "";
    const reply = await send("POST", path.replace("{id}", parent), wanted);
    expect([reply.status, reply.body.detail]).toEqual([201, undefined]);
    const one = `${path.endsWith("/api-keys") ? "/v1/admin/api-keys" : path.replace("{id}", parent)}/${reply.body.id ?? reply.body.user.id}`;
    const shown = (members: Record<string, unknown>, left: readonly string[]) =>
      Object.fromEntries(Object.entries(members).filter(([name]) => !left.includes(name)));
    const unread = wanted.providers === undefined ? UNREAD : [...UNREAD, "providers"];
    const first = await send("GET", one);
    expect(first.body).toMatchObject(shown(wanted, unread));
    const again = await send("PATCH", one, shown(wanted, ["password", "send_welcome_email"]));
    expect([again.status, again.body]).toEqual([200, first.body]);
    const changed = await send("PATCH", one, { ...shown(first.body, ["updated_at"]), name: `${first.body.name} too` });
    if ("name" in wanted)
      expect([changed.status, { ...changed.body, updated_at: "", name: "" }]).toEqual([200, { ...first.body, updated_at: "", name: "" }]);
    const at = path.endsWith("/api-keys") ? "/v1/admin/api-keys/{id}" : `${path}/{${path.endsWith("/evidence") ? "eid" : "id"}}`;
    const takes = Object.keys(OPERATIONS.find((op) => op.method === "PATCH" && op.path === at)?.body?.shape ?? {});
    for (const name of Object.keys(shown(wanted, ["send_welcome_email"])).filter((given) => !takes.includes(given))) {
      const refused = await send("PATCH", one, { [name]: "another" });
      expect([name, refused.status, refused.body.fields?.[0].field]).toEqual([name, 422, name]);
    }
  });
});
