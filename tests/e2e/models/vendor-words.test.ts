import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { createOpenAI } from "@ai-sdk/openai";
import { APICallError, generateText } from "ai";
import AnthropicZero from "anthropic-sdk-0";
import OpenAI from "openai";
import { rowOf } from "../../support/worlds/admin.ts";
import { fakeVendor, type FakeVendor } from "../../support/vendors/fake-vendor.ts";
import { startWorld, type World } from "../../support/world.ts";

/** What clients and vendors exchange in headers, and how a vendor's errors keep their meaning. */
let world: World;
let vendor: FakeVendor;
let apiKey: string;

const RATES = { "anthropic-ratelimit-requests-remaining": "7", "x-ratelimit-remaining-tokens": "9" };
const NO_ACCESS = { error: { message: "Project `proj_1` does not have access to model `m`", code: "model_not_found" } };
const message = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "m",
  content: [{ type: "text", text: "Hi" }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
};
const completion = {
  id: "c",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

beforeAll(async () => {
  vendor = fakeVendor(({ path, body }) => {
    const { model } = JSON.parse(body) as { model: string };
    const status = Number(/\d+$/.exec(model)?.[0] ?? 200);
    const headers = { ...RATES, "x-vendor-region": "eu", "x-vendor-token": "t", "x-unnamed": "1" };
    if (status === 403) return Response.json(NO_ACCESS, { status });
    if (status >= 500)
      return Response.json(
        { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
        { status, headers: { "retry-after": "3" } },
      );
    if (status !== 200) return Response.json({ error: { message: "No.", type: "x", code: "y" } }, { status, headers });
    return Response.json(path.includes("messages") ? message : completion, { headers });
  });
  world = await startWorld();
  const { admin } = world;
  const group = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "team", group_type: "team" });
  for (const api_format of ["openai", "anthropic"]) {
    await admin.post("/v1/admin/providers", {
      tenant_id: "default",
      provider_key: `fake-${api_format}`,
      api_format,
      base_url: `${vendor.origin}/v1`,
      api_key: "vendor-key",
      pass_request_headers: ["X-Project", "x-trace-*"],
      pass_response_headers: ["x-vendor-*"],
    });
    for (const status of ["", "-400", "-403", "-503", "-529"])
      await admin.post("/v1/admin/llms", {
        tenant_id: "default",
        name: `${api_format}${status}`,
        model_name: `m${status}`,
        provider: `fake-${api_format}`,
        modes: ["chat"],
        group_ids: [group.id],
      });
  }
  ({ key_value: apiKey } = await admin.post(`/v1/admin/resource-groups/${group.id}/api-keys`, { name: "key", access_mode: "shared" }));
});

afterAll(async () => {
  await world.end();
  await vendor.stop();
});

const anthropic = () => new Anthropic({ baseURL: world.gateway.runtimeUrl, apiKey, maxRetries: 0 });
const openai = () => new OpenAI({ baseURL: `${world.gateway.runtimeUrl}/v1/proxy/llm`, apiKey, maxRetries: 0 });
const messages: { role: "user"; content: string }[] = [{ role: "user", content: "hello" }];
const ask = (model: string, headers: Record<string, string> = {}) =>
  openai().chat.completions.create({ model, messages }, { headers }).withResponse();

describe("headers", () => {
  test("for betas, and the beta query parameter, are sent to a vendor of the same format", async () => {
    const older = new AnthropicZero({ baseURL: world.gateway.runtimeUrl, apiKey, maxRetries: 0 });
    await older.beta.messages.create({ model: "anthropic", max_tokens: 10, messages, betas: ["a-1", "b-2"] });
    expect(vendor.seen.at(-1)).toMatchObject({ path: "/v1/messages?beta=true", headers: { "anthropic-beta": "a-1,b-2" } });
    await anthropic().messages.create({ model: "anthropic", max_tokens: 10, messages });
    expect(vendor.seen.at(-1)?.path).toBe("/v1/messages");
    await ask("openai", { "openai-beta": "responses=v1" });
    expect(vendor.seen.at(-1)?.headers["openai-beta"]).toBe("responses=v1");
  });

  test.each(["openai", "anthropic"])(
    "with rate limits from %s, and configured ones, reach the caller, but no credentials",
    async (model) => {
      const { response } = await ask(model);
      for (const [name, value] of Object.entries(RATES)) expect(response.headers.get(name)).toBe(value);
      expect(response.headers.get("x-vendor-region")).toBe("eu");
      for (const name of ["x-vendor-token", "x-unnamed"]) expect(response.headers.get(name)).toBeNull();
    },
  );

  test.each(["openai", "anthropic"])("of a caller are sent to %s only if an administrator configured them", async (model) => {
    await ask(model, { "x-project": "blue", "x-trace-span": "7", "x-trace-token": "secret", "x-other": "1" });
    const { headers } = vendor.seen.at(-1) as { headers: Record<string, string> };
    expect(headers).toMatchObject({ "x-project": "blue", "x-trace-span": "7" });
    for (const name of ["x-trace-token", "x-other", "x-gw-run-id"]) expect(headers[name]).toBeUndefined();
  });

  test("are configured in lower case, and names that must not be passed are refused", async () => {
    const [provider] = (await world.admin.get("/v1/admin/providers?tenant_id=default&provider_key=fake-openai")).providers;
    expect(provider).toMatchObject({ pass_request_headers: ["x-project", "x-trace-*"], pass_response_headers: ["x-vendor-*"] });
    for (const name of [
      "Authorization",
      "x-api-key",
      "Cookie",
      "Connection",
      "x-gw-run-id",
      "x-gw-*",
      "proxy-authenticate",
      "host",
      "*",
      "a b",
    ]) {
      const refused = await world.admin.request("PATCH", `/v1/admin/providers/${provider.id}`, { pass_request_headers: [name] });
      expect([name, refused.status]).toEqual([name, 400]);
      expect(refused.body.detail).toContain("pass_request_headers");
    }
  });
});

describe("an error of the vendor", () => {
  const failure = (asked: Promise<unknown>) =>
    asked.then(
      () => null,
      (error: unknown) => error as InstanceType<typeof Anthropic.APIError>,
    );

  test.each([503, 529])("with status %d is an overloaded error for clients of its own format", async (status) => {
    const error = await failure(anthropic().messages.create({ model: `anthropic-${status}`, max_tokens: 10, messages }));
    expect(error?.status).toBe(status);
    expect(error?.error).toMatchObject({ error: { type: "overloaded_error" }, request_id: expect.any(String) });
    expect([error?.headers?.get("x-should-retry"), error?.headers?.get("retry-after")]).toEqual(["true", "3"]);
    expect((await rowOf(world.admin, { id: error?.requestID })).http_status_code).toBe(status);
  });

  test.each([503, 529])("with status %d becomes 503 for clients of other formats", async (status) => {
    const error = (await failure(ask(`anthropic-${status}`))) as unknown as InstanceType<typeof OpenAI.APIError>;
    expect(error.status).toBe(503);
    expect(error.message).toContain("The model provider is overloaded.");
    expect(error.headers?.get("x-should-retry")).toBe("true");
  });

  test("about access to the model does not mention the credential or the project", async () => {
    const error = await failure(ask("openai-403"));
    expect(error?.status).toBe(502);
    expect(error?.message).toContain("does not let the gateway's account use this model");
    expect(error?.message).not.toMatch(/credential|proj_1/);
  });

  test("that is translated has the request ID", async () => {
    const error = await failure(anthropic().messages.create({ model: "openai-400", max_tokens: 10, messages }));
    expect(error?.status).toBe(400);
    const { request_id: id } = (error as unknown as { error: { request_id: string } }).error;
    expect(error?.requestID).toBe(id);
    expect((await rowOf(world.admin, { id })).http_status_code).toBe(400);
  });
});

describe("an error of the gateway", () => {
  test("has its message in the openai client's error", async () => {
    const error = (await ask("not-there").catch((refused: unknown) => refused)) as InstanceType<typeof OpenAI.APIError>;
    expect(error).toBeInstanceOf(OpenAI.NotFoundError);
    expect(error.message).toContain("There is no model");
  });

  test("has its message, code and type in the body for the AI SDK", async () => {
    const model = createOpenAI({ baseURL: `${world.gateway.runtimeUrl}/v1/proxy/llm`, apiKey }).chat("not-there");
    const error = await generateText({ model, prompt: "hello", maxRetries: 0 }).catch((refused: unknown) => refused);
    if (!APICallError.isInstance(error)) throw error;
    expect(JSON.parse(error.responseBody ?? "")).toEqual({
      error: 'There is no model "not-there".',
      code: "model_not_found",
      type: "not_found_error",
    });
  });
});
