import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { newPerson } from "../../support/worlds/portal.ts";
import { startWorld, type World } from "../../support/world.ts";

const PAGE = "https://app.example";
const TOOLS_PAGE = "https://tools.example";
const CALLS = [
  ["POST", "/v1/proxy/llm/chat/completions", "authorization, content-type, x-stainless-lang, x-stainless-retry-count"],
  ["POST", "/v1/proxy/llm/responses", "authorization, content-type, openai-organization"],
  ["GET", "/v1/proxy/llm/models", "authorization"],
  ["POST", "/v1/messages", "x-api-key, anthropic-version, anthropic-beta, anthropic-dangerous-direct-browser-access"],
  ["POST", "/v1beta/models/m:generateContent", "x-goog-api-key, x-goog-api-client, content-type"],
  ["GET", "/v1/models/m", "x-api-key"],
  ["POST", "/v1/portal/auth/login", "content-type"],
  ["PUT", "/v1/portal/auth/profile", "authorization, content-type"],
] as const;

let world: World;
let closed: World;

beforeAll(async () => {
  world = await startWorld({ GW_ALLOWED_ORIGINS: PAGE, GW_MCP_ALLOWED_ORIGINS: TOOLS_PAGE });
  closed = await startWorld();
});
afterAll(async () => {
  await world.end();
  await closed.end();
});

const asks = (at: World, path: string, origin: string, method: string, headers: string) =>
  fetch(at.gateway.runtimeUrl + path, {
    method: "OPTIONS",
    headers: { origin, "access-control-request-method": method, "access-control-request-headers": headers },
  });
const reader = (response: Response) => response.headers.get("access-control-allow-origin");

describe("pages of an origin in GW_ALLOWED_ORIGINS", () => {
  test.each(CALLS)("may call %s %s with the headers that vendors' clients send", async (method, path, headers) => {
    const answer = await asks(world, path, PAGE, method, `${headers}, cookie-thing`);
    expect([answer.status, reader(answer), answer.headers.get("access-control-allow-headers")]).toEqual([204, PAGE, headers]);
    expect(answer.headers.get("access-control-allow-methods")).toContain(method);
    expect([answer.headers.get("access-control-allow-credentials"), answer.headers.get("vary")]).toEqual([null, "origin"]);

    // Refusals are readable too, with the headers that say why and when to retry.
    const refused = await fetch(world.gateway.runtimeUrl + path, {
      method,
      headers: { origin: PAGE, "content-type": "application/json" },
      ...(method === "GET" ? {} : { body: "{}" }),
    });
    expect(refused.status).toBeGreaterThanOrEqual(400);
    expect([reader(refused), refused.headers.get("vary")]).toEqual([PAGE, "origin"]);
    expect((refused.headers.get("access-control-expose-headers") ?? "").split(", ")).toContain("x-request-id");
  });

  test("may call tool servers, as may those of an origin in GW_MCP_ALLOWED_ORIGINS", async () => {
    for (const origin of [PAGE, TOOLS_PAGE])
      expect(reader(await asks(world, "/v1/proxy/mcp/any", origin, "POST", "content-type"))).toBe(origin);
  });

  test("may read what a signed-in person may", async () => {
    const person = await newPerson(world.gateway.runtimeUrl, "paula");
    const answer = await fetch(`${world.gateway.runtimeUrl}/v1/portal/auth/profile`, {
      headers: { origin: PAGE, authorization: `Bearer ${person.token}` },
    });
    expect([answer.status, reader(answer)]).toEqual([200, PAGE]);
  });
});

test.each([
  "null",
  "https://app.example.evil.test",
  "https://evil-app.example",
  "http://app.example",
  "https://app.example:8443",
  "https://APP.example",
  `${PAGE}, https://evil.test`,
  TOOLS_PAGE,
])("pages of the origin %s may not call the API", async (origin) => {
  for (const [method, path, headers] of CALLS) {
    expect(reader(await asks(world, path, origin, method, headers))).toBeNull();
    const answer = await fetch(world.gateway.runtimeUrl + path, {
      method,
      headers: { origin },
      ...(method === "GET" ? {} : { body: "{}" }),
    });
    expect([reader(answer), answer.headers.get("vary")]).toEqual([null, "origin"]);
  }
});

test("a response to a request without an Origin header varies by origin", async () => {
  const answer = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/models`);
  expect([reader(answer), answer.headers.get("vary")]).toEqual([null, "origin"]);
});

test("without GW_ALLOWED_ORIGINS no page may call the API", async () => {
  for (const [method, path, headers] of CALLS) {
    const answer = await asks(closed, path, PAGE, method, headers);
    expect([answer.status, reader(answer)]).toEqual([405, null]);
  }
});
