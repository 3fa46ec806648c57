import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { type AdminClient, rowOf, type Served, serveModels } from "../../support/worlds/admin.ts";
import { ANSWER_TEXT, type FakeUpstream, STREAM_FRAMES, USAGE_FRAME } from "../../support/vendors/fake-upstream.ts";
import type { GatewayProcess } from "../../support/gateway.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import { leastOf, until } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";

let world: World;
let upstream: FakeUpstream;
let gateway: GatewayProcess;
let admin: AdminClient;
let served: Served;

beforeAll(async () => {
  world = await startWorld({ GW_MAX_BODY_MB: "1", GW_UPSTREAM_TIMEOUT_SECONDS: "5" });
  ({ upstream, gateway, admin } = world);
  served = await serveModels(admin, upstream.baseUrl, [
    { name: "fake-1", input_cost_per_million_tokens: 1.25, output_cost_per_million_tokens: 10, cache_read_cost_per_million_tokens: 0.125 },
    { name: "renamed", model_name: "fake-1" },
    "unpriced",
    ...["bad-request", "bad-key", "slow-down", "slow-down-ms", "broken", "redirect", "nonsense", "silent", "torn", "short", "hold"],
    { name: "off", enabled: false },
    { name: "embedder", mode: "embedding" },
  ]);
  await admin.post("/v1/admin/llms", {
    tenant_id: "default",
    name: "repeats",
    model_name: "repeats",
    mode: "chat",
    provider: "echo",
    enabled: true,
    group_ids: [served.groupId],
  });
});

afterAll(() => world.end());

const messages = [{ role: "user", content: "Hi" }];
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

function chat(
  body: unknown,
  headers: Record<string, string> = { authorization: `Bearer ${served.apiKey}` },
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(`${gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
}

const rowFor = (response: Response) => rowOf(admin, { id: response.headers.get("x-request-id") });

test("repeated requests to a path get the same answer: HEAD has no body, other methods get 405", async () => {
  const url = `${gateway.runtimeUrl}/v1/proxy/llm/models`;
  const headers = { "x-api-key": served.apiKey };
  for (let time = 0; time < 3; time++) {
    const listed = await fetch(url, { headers });
    expect([listed.status, Array.isArray((await listed.json()).data)]).toEqual([200, true]);
    const head = await fetch(url, { method: "HEAD", headers });
    expect([head.status, head.headers.get("content-type"), await head.text()]).toEqual([200, "application/json", ""]);
    expect((await fetch(`${url}?limit=1`, { method: "DELETE", headers })).status).toBe(405);
    expect((await fetch(`${url}/none`, { headers })).status).toBe(404);
  }
});

describe("pass-through", () => {
  test("is byte for byte in both directions, including unknown fields and formatting", async () => {
    const body = `{ "messages":[{"role":"user","content":"h\\u00e9 👋"}],\n "model" : "fake-1", "seed": 1e2, "of_tomorrow": {"a":[1,2.50]} }`;
    const response = await chat(body);
    expect(await response.text()).toBe(ANSWER_TEXT);
    const last = upstream.seen.at(-1);
    expect(last?.body).toBe(body);
    expect(last?.path).toBe("/v1/chat/completions");
    const row = await rowFor(response);
    expect(row.request_content_hash).toBe(sha256(body));
    expect(row.response_content_hash).toBe(sha256(ANSWER_TEXT));
    expect(row.response_size_bytes).toBe(Buffer.byteLength(ANSWER_TEXT));
  });

  test("sends the provider's own stream chunks, without the usage chunk that the gateway requested", async () => {
    const response = await chat({ model: "fake-1", stream: true, messages });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const sent = `${STREAM_FRAMES.join("")}data: [DONE]\n\n`;
    expect(await response.text()).toBe(sent);
    expect(JSON.parse(upstream.seen.at(-1)?.body ?? "").stream_options).toEqual({ include_usage: true });
    const row = await rowFor(response);
    expect(row).toMatchObject({
      llm_streaming: true,
      llm_prompt_tokens: 12,
      llm_completion_tokens: 4,
      success: true,
      response_content_hash: sha256(sent),
    });
  });

  test("keeps the usage chunk if the caller requested it", async () => {
    const response = await chat({ model: "fake-1", stream: true, stream_options: { include_usage: true }, messages });
    expect(await response.text()).toBe(`${STREAM_FRAMES.join("")}${USAGE_FRAME}data: [DONE]\n\n`);
  });

  test("keeps the caller's credential from the provider, and the provider's from the caller and the row", async () => {
    const response = await chat({ model: "fake-1", messages });
    const last = upstream.seen.at(-1);
    expect(last?.headers.authorization).toBe("Bearer sk-upstream-secret-0001");
    expect(JSON.stringify(last)).not.toContain(served.apiKey);
    expect(response.headers.get("set-cookie")).toBeNull();
    expect(JSON.stringify(await rowFor(response))).not.toMatch(/sk-upstream-secret|sk_gw_api_/);
  });
});

describe("credentials", () => {
  test.each(["authorization", "x-api-key", "api-key"])("an API key in the header %s is accepted", async (name) => {
    const response = await chat(
      { model: "fake-1", messages },
      { [name]: name === "authorization" ? `Bearer ${served.apiKey}` : served.apiKey },
    );
    expect(response.status).toBe(200);
  });

  test.each([
    ["no credential", {}, "credential_missing"],
    ["a malformed credential", { authorization: "Bearer sk-other" }, "credential_malformed"],
    ["an unknown credential", { "x-api-key": `sk_gw_api_${"A".repeat(43)}` }, "credential_unknown"],
  ])("a request with %s gets the same 401, distinguished only on the row", async (_name, headers, reason) => {
    const response = await chat({ model: "fake-1", messages }, headers as Record<string, string>);
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe("Bearer");
    expect(response.headers.get("x-gw-ai-generated")).toBeNull();
    expect(await response.json()).toEqual({
      error: "Missing or invalid credential.",
      code: "unauthenticated",
      type: "authentication_error",
    });
    expect(await rowFor(response)).toMatchObject({ success: false, http_status_code: 401, error_type: reason, tenant_id: null });
  });

  test("a tenant or group that does not belong to the credential is refused", async () => {
    const bearer = { authorization: `Bearer ${served.apiKey}` };
    expect((await chat({ model: "fake-1", messages }, { ...bearer, "x-tenant-id": "other" })).status).toBe(401);
    expect((await chat({ model: "fake-1", messages }, { ...bearer, "x-resource-group": "other" })).status).toBe(403);
    const { id } = await admin.post("/v1/admin/resource-groups", { name: "Café".normalize("NFD"), tenant_id: "default" });
    const key = await admin.post(`/v1/admin/resource-groups/${id}/api-keys`, { name: "of the café" });
    for (const form of ["NFC", "NFD"]) {
      const named = { "x-api-key": key.key_value, "x-resource-group": Buffer.from("Café".normalize(form)).toString("latin1") };
      // Admitted, then refused because the group is not granted the model.
      expect(await (await chat({ model: "fake-1", messages }, named)).json()).toMatchObject({ code: "model_not_allowed" });
    }
    expect((await chat({ model: "fake-1", messages }, { ...bearer, "x-resource-group": "team", "x-tenant-id": "default" })).status).toBe(
      200,
    );
  });

  test("a revoked key is refused at once, a rotated key after its grace period, and a new key works at once", async () => {
    const made = await admin.post(`/v1/admin/resource-groups/${served.groupId}/api-keys`, { name: "short lived", access_mode: "shared" });
    const call = (key: string) => chat({ model: "fake-1", messages }, { "x-api-key": key }).then((response) => response.status);
    expect(await call(made.key_value)).toBe(200);
    const inUse = await admin.post(`/v1/admin/api-keys/${made.id}/rotate`, { grace_seconds: 600 });
    const rotated = await admin.post(`/v1/admin/api-keys/${made.id}/rotate`, { grace_seconds: 1 });
    expect(await call(rotated.key_value)).toBe(200);
    expect(await call(made.key_value)).toBe(200);
    const graceEnds = Date.parse(rotated.previous_valid_until);
    while (Date.now() <= graceEnds) await Bun.sleep(graceEnds - Date.now() + 1);
    expect(await call(inUse.key_value)).toBe(401);
    expect(await call(made.key_value)).toBe(200);
    await admin.request("DELETE", `/v1/admin/api-keys/${made.id}`);
    expect([await call(rotated.key_value), await call(made.key_value)]).toEqual([401, 401]);
  });
});

describe("access", () => {
  test.each([
    ["by its gateway name", () => ({ model: "renamed" })],
    ["by its gateway ID", () => ({ model_id: served.models.renamed })],
  ])("a model named %s is sent to the provider under the provider's name", async (_name, reference) => {
    const response = await chat({ ...reference(), messages });
    expect(response.status).toBe(200);
    expect(JSON.parse(upstream.seen.at(-1)?.body ?? "")).toEqual({ model: "fake-1", messages });
    expect(await rowFor(response)).toMatchObject({ llm_model_used: "renamed", llm_provider: "fake" });
  });

  test.each([
    ["no-such", 404, "model_not_found"],
    ["echo", 403, "model_not_allowed"],
    ["off", 403, "model_disabled"],
    ["embedder", 400, "model_mode_mismatch"],
  ])("model %s is refused with %i %s and not sent to the provider", async (model, status, code) => {
    const before = upstream.seen.length;
    const response = await chat({ model, messages });
    expect(response.status).toBe(status);
    expect((await response.json()).code).toBe(code);
    expect(upstream.seen.length).toBe(before);
    expect(await rowFor(response)).toMatchObject({
      success: false,
      error_type: code,
      http_status_code: status,
      llm_model_requested: model,
      llm_model_used: null,
    });
  });

  test("a model unbound from the group is refused at once", async () => {
    const model = await admin.post("/v1/admin/llms", {
      tenant_id: "default",
      name: "passing",
      model_name: "fake-1",
      mode: "chat",
      provider: "fake",
      enabled: true,
      group_ids: [served.groupId],
    });
    const status = () => chat({ model: "passing", messages }).then((response) => response.status);
    expect(await status()).toBe(200);
    await admin.request("DELETE", `/v1/admin/resource-groups/${served.groupId}/llm-models`, { model_ids: [model.id] });
    expect(await status()).toBe(403);
  });

  test("the model list has exactly the models that may be called", async () => {
    const list = await fetch(`${gateway.runtimeUrl}/v1/proxy/llm/models`, { headers: { "x-api-key": served.apiKey } });
    const { object, data } = (await list.json()) as { object: string; data: { id: string; gw_model_id: string }[] };
    expect(object).toBe("list");
    expect(data.map(({ id }) => id)).toContain("fake-1");
    expect(data.map(({ id }) => id)).not.toContain("echo");
    expect(data.map(({ id }) => id)).not.toContain("off");
    expect(list.headers.get("x-gw-ai-generated")).toBeNull();
    const unknown = await fetch(`${gateway.runtimeUrl}/v1/proxy/llm/models/${crypto.randomUUID()}`, {
      headers: { "x-api-key": served.apiKey },
    });
    expect(unknown.status).toBe(404);
  });
});

describe("invalid input", () => {
  test.each([
    ["{", "not JSON"],
    ['{"model":"fake-1"}', "`messages`"],
    ['{"messages":[{"role":"user","content":"x"}]}', "`model`"],
    ['{"model":"fake-1","model":"echo","messages":[{"role":"user","content":"x"}]}', "`model` stands more than once"],
  ])("%s gets 400 with a message containing %s", async (body, says) => {
    const response = await chat(body);
    expect(response.status).toBe(400);
    expect((await response.json()).error).toContain(says);
    expect(await rowFor(response)).toMatchObject({ error_type: "invalid_body", request_content_hash: sha256(body) });
  });

  test.each([
    ['{"model":"fake-1","messages":[{"role":"user","content":"x"}],"Model":"echo"}', '"Model" and "model"'],
    ['{"model":"fake-1","messages":[{"role":"user","content":"x"}],"Max_Tokens":99999}', '"Max_Tokens" and "max_tokens"'],
    ['{"model":"fake-1","messages":[{"role":"user","content":"x"}],"meſſages":[]}', '"meſſages" and "messages"'],
    ['{"model":"fake-1","messages":[{"role":"user","content":"x","Content":"y"}]}', '"Content" and "content"'],
    ['{"model":"fake-1","messages":[{"role":"user","content":"x"}],"metadata":{"team":"a","Team":"b"}}', '"Team" and "team"'],
  ])("a field name that parsers may confuse with another gets a 400 of its own: %s", async (body, says) => {
    const response = await chat(body);
    expect(response.status).toBe(400);
    expect((await response.json()).error).toContain(says);
    expect(await rowFor(response)).toMatchObject({ error_type: "ambiguous_name", request_content_hash: sha256(body) });
  });

  test("a body over the limit gets 413 and a row", async () => {
    const response = await chat({ model: "fake-1", messages: [{ role: "user", content: "x".repeat(1_200_000) }] });
    expect(response.status).toBe(413);
    expect(await rowFor(response)).toMatchObject({ error_type: "body_too_large" });
    const huge = await chat({ model: "fake-1", messages: [{ role: "user", content: "x".repeat(4_000_000) }] });
    expect(huge.status).toBe(413);
    expect(await rowFor(huge)).toMatchObject({ error_type: "body_too_large" });
  });

  test("an unknown path gets 404, a wrong method 405 with an Allow header", async () => {
    expect((await fetch(`${gateway.runtimeUrl}/v1/proxy/llm/nothing`)).status).toBe(404);
    const wrong = async (method: string, path: string) => {
      const { status, headers } = await fetch(gateway.runtimeUrl + path, { method });
      return [status, headers.get("allow")];
    };
    expect(await wrong("GET", "/v1/proxy/llm/chat/completions")).toEqual([405, "POST"]);
    expect(await wrong("DELETE", "/v1/proxy/llm/models/fake-1")).toEqual([405, "GET, HEAD"]);
    expect(await wrong("DELETE", "/v1beta/models/fake-1:generateContent")).toEqual([405, "POST"]);
    expect(await wrong("PUT", "/v1/portal/auth/profile")).toEqual([405, "GET, PATCH, HEAD"]);
    expect(await wrong("POST", "/healthz")).toEqual([405, "GET, HEAD"]);
  });
});

describe("a failing provider", () => {
  test.each([
    ["bad-request", 400, "upstream_rejected"],
    ["slow-down", 429, "upstream_rejected"],
    ["bad-key", 502, "upstream_auth_failed"],
    ["broken", 502, "upstream_error"],
    ["redirect", 502, "upstream_error"],
    ["nonsense", 502, "upstream_invalid_response"],
    ["silent", 504, "upstream_timeout"],
  ])("%s becomes %i, recorded as %s", async (model, status, errorType) => {
    const response = await chat({ model, messages });
    expect(response.status).toBe(status);
    expect(response.headers.get("x-should-retry")).toBe(model === "bad-key" ? "false" : null);
    if (model === "slow-down") expect(response.headers.get("retry-after")).toBe("7");
    if (model === "bad-request")
      expect(await response.json()).toEqual({ error: { message: "fake 400", type: "invalid_request_error", param: null, code: "fake" } });
    expect(response.headers.get("x-gw-ai-generated")).toBeNull();
    expect(await rowFor(response)).toMatchObject({ success: false, http_status_code: status, error_type: errorType });
  });

  test.each([
    ["slow-down", "7", "7s"],
    ["slow-down-ms", "2", "1.5s"],
  ])("Google clients get the retry delay in RetryInfo (%s)", async (model, retryAfter, retryDelay) => {
    const url = `${gateway.runtimeUrl}/v1beta/models/${model}:generateContent?key=${served.apiKey}`;
    const response = await fetch(url, { method: "POST", body: '{"contents":[{"parts":[{"text":"Hi"}]}]}' });
    const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay }];
    expect([response.headers.get("retry-after"), await response.json()]).toMatchObject([retryAfter, { error: { code: 429, details } }]);
  });

  test("an unreachable provider becomes 502", async () => {
    const other = await serveModels(admin, "http://127.0.0.1:1/v1", [{ name: "nowhere" }], { group: "nowhere", providerKey: "nowhere" });
    const response = await chat({ model: "nowhere", messages }, { "x-api-key": other.apiKey });
    expect(response.status).toBe(502);
    expect((await response.json()).code).toBe("upstream_unreachable");
  });

  test.each(["torn", "short"])("an interrupted stream (%s) ends with an error event", async (model) => {
    const response = await chat({ model, stream: true, messages });
    expect(response.status).toBe(200);
    const reading = response.text();
    upstream.release();
    const text = await reading;
    expect(text).toStartWith(STREAM_FRAMES.slice(0, 3).join(""));
    const last = JSON.parse(text.slice(text.lastIndexOf("data: ") + 6));
    expect(last.error.code).toBe("upstream_interrupted");
    expect(text).not.toContain("[DONE]");
    const row = await rowFor(response);
    expect(row).toMatchObject({ success: false, error_type: "upstream_interrupted", tags: ["usage_estimated"] });
    expect(row.llm_completion_tokens).toBeGreaterThan(0);
  });
});

describe("a caller who disconnects", () => {
  test("in mid-stream cancels the upstream request within a second, and the usage is on the row", async () => {
    const ms = await leastOf(3, 1_000, async () => {
      const caller = new AbortController();
      const response = await chat({ model: "hold", stream: true, messages }, undefined, caller.signal);
      const reader = response.body?.getReader();
      await reader?.read();
      const gone = Date.now();
      caller.abort();
      await upstream.seen.at(-1)?.aborted;
      const took = Date.now() - gone;
      upstream.release();
      const row = await rowFor(response);
      expect(row).toMatchObject({ success: false, error_type: "client_disconnected", http_status_code: 200, tags: ["usage_estimated"] });
      expect(row.llm_completion_tokens).toBeGreaterThan(0);
      return took;
    });
    expect(ms).toBeLessThan(1_000);
  });

  test("before the response cancels the upstream request too", async () => {
    const caller = new AbortController();
    const correlation = `gone-${crypto.randomUUID()}`;
    const before = upstream.seen.length;
    const waiting = chat(
      { model: "silent", messages },
      { "x-api-key": served.apiKey, "x-correlation-id": correlation },
      caller.signal,
    ).catch(() => null);
    await until(() => upstream.seen.length > before);
    caller.abort();
    await waiting;
    await upstream.seen.at(-1)?.aborted;
    expect(await rowOf(admin, { correlation_id: correlation })).toMatchObject({
      success: false,
      error_type: "client_disconnected",
      http_status_code: 499,
      // The prompt is billed even if nobody waited for the answer.
      llm_prompt_tokens: expect.any(Number),
      llm_completion_tokens: 0,
      tags: ["usage_estimated"],
    });
  });
});

describe("the audit row", () => {
  test("is metered to the micro-dollar, with cached tokens at their own price", async () => {
    const row = await rowFor(await chat({ model: "fake-1", messages }));
    // 800 x 1.25 + 200 x 0.125 + 500 x 10 = 6,025 micro-dollars; the cache saved 200 x (1.25 - 0.125) = 225
    expect(row).toMatchObject({
      llm_prompt_tokens: 1000,
      llm_completion_tokens: 500,
      prompt_cache_read_tokens: 200,
      llm_estimated_cost_usd: 0.006025,
      prompt_cache_savings_usd: 0.000225,
    });
    expect((await rowFor(await chat({ model: "unpriced", messages }))).llm_estimated_cost_usd).toBeNull();
  });

  test("has the caller's claims and the answer's details", async () => {
    const response = await chat(
      {
        model: "fake-1",
        messages: [{ role: "system", content: "Be kind." }, ...messages],
        temperature: 0.5,
        max_tokens: 9,
        tools: [{ type: "function", function: { name: "f" } }],
      },
      {
        "x-api-key": served.apiKey,
        "x-gw-run-id": "task 7",
        "x-gw-turn-id": "t1",
        "x-gw-turn-seq": "3",
        "x-gw-step-id": "s",
        "x-gw-step-name": "plan",
        "x-gw-session-id": "conv",
        "x-correlation-id": "corr",
        "x-request-id": "req",
        traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00F067AA0BA902B7-01",
        cookie: "a=b",
      },
    );
    expect(response.headers.get("x-gw-run-id")).toBe("task 7");
    const row = await rowFor(response);
    expect(row).toMatchObject({
      tenant_id: "default",
      proxy_type: "llm",
      proxy_subtype: "chat_completions",
      http_method: "POST",
      endpoint: "/v1/proxy/llm/chat/completions",
      api_key_id: served.apiKeyId,
      resource_group_id: served.groupId,
      source: "gateway",
    });
    expect(row).toMatchObject({
      turn_id: "t1",
      turn_seq: 3,
      step_id: "s",
      step_name: "plan",
      correlation_id: "corr",
      request_id: "req",
      trace_id: "4bf92f3577b34da6a3ce929d0e0e4736",
      span_id: "00f067aa0ba902b7",
      trace_continuity: "client_asserted",
      trace_root_kind: "external_api",
      client_ip: "127.0.0.1",
    });
    expect(row).toMatchObject({
      llm_temperature: 0.5,
      llm_max_tokens: 9,
      llm_function_calling: true,
      llm_streaming: false,
      prompt_fingerprint: sha256("Be kind."),
    });
    expect(row.root_task_id).not.toContain("task 7");
    expect(row.end_user_session_id).not.toContain("conv");
    expect(row.request_headers.cookie).toBeUndefined();
    expect(row.request_headers["x-api-key"]).toBeUndefined();
    const again = await chat({ model: "fake-1", messages }, { "x-api-key": served.apiKey, "x-gw-run-id": "task 7" });
    expect((await rowFor(again)).root_task_id).toBe(row.root_task_id);
    const alone = await chat({ model: "fake-1", messages });
    expect(alone.headers.get("x-gw-run-id")).toBeTruthy();
    expect((await rowFor(alone)).trace_continuity).toBe("minted");
  });

  test("has previews according to the tenant's store_bodies", async () => {
    const body = { model: "fake-1", messages: [{ role: "user", content: "I am ada@example.org, 4111 1111 1111 1111" }] };
    expect((await rowFor(await chat(body))).request_body_preview).toContain("I am [email], [number]");
    const keep = async (store_bodies: string) => {
      const retention = { store_bodies, body_days: 30, log_days: 400, run_days: 400 };
      const changed = await admin.request("PUT", "/v1/admin/tenants/default", { data_retention: retention });
      expect(changed.status).toBe(200);
      const deadline = Date.now() + PATIENCE_MS;
      for (;;) {
        const row = await rowFor(await chat(body));
        const preview = row.request_body_preview as string | null;
        if (
          store_bodies === "none"
            ? preview === null
            : store_bodies === "full"
              ? preview === JSON.stringify(body)
              : preview?.includes("[email]")
        )
          return row;
        if (Date.now() > deadline) throw new Error(`still ${preview}`);
      }
    };
    await keep("full");
    expect(await keep("none")).toMatchObject({ response_body_preview: null, request_content_hash: sha256(JSON.stringify(body)) });
    await keep("redacted");
  });

  test("redacts a value that is split over several chunks as a whole", async () => {
    const response = await chat({ model: "repeats", stream: true, messages: [{ role: "user", content: "Pay 4111 1111 1111 1111 now" }] });
    expect((await response.text()).match(/"content":"(4111|1111) "/g)).toHaveLength(4);
    const { response_body_preview: preview } = await rowFor(response);
    expect(preview).toContain('"content":"[number]');
    expect(preview).toContain('"content":"now"');
    // Times and IDs may contain these digits as well.
    expect(preview).not.toMatch(/"content":"[^"]*(?:4111|1111)/);
  });
});
