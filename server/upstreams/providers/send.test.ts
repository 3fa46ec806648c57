import { afterAll, describe, expect, test } from "bun:test";
import { fakeVendor, vendorRequest, vendorTarget } from "../../../tests/support/vendors/fake-vendor.ts";
import { startRawUpstream } from "../../../tests/support/vendors/raw-upstream.ts";
import { outbound } from "../../runtime/outbound.ts";
import { openaiProvider } from "./openai/openai.ts";
import type { ProviderReply } from "./provider.ts";
import { isRefusal } from "../../kernel/errors.ts";
import { readJson } from "./read-json.ts";
import { outboundHeaders, pathSegment } from "./send.ts";

const vendor = fakeVendor(({ path }) => {
  if (path.startsWith("/redirect")) return new Response(null, { status: 307, headers: { location: "http://127.0.0.1:1/elsewhere" } });
  if (path.startsWith("/never")) return new Promise<Response>(() => undefined);
  return new Response("{}", { status: 429, headers: { "x-request-id": "req_1", "retry-after": "3" } });
});
afterAll(() => vendor.stop());

const provider = openaiProvider(outbound({ allowPrivate: true }));

describe("a call over the network", () => {
  test("returns error responses of the vendor as replies", async () => {
    const reply = (await provider.send(vendorTarget("openai", { baseUrl: vendor.origin }), vendorRequest("chat"))) as ProviderReply;
    expect([reply.response.status, reply.requestId]).toEqual([429, "req_1"]);
  });

  test("does not follow redirects", async () => {
    const reply = (await provider.send(
      vendorTarget("openai", { baseUrl: `${vendor.origin}/redirect` }),
      vendorRequest("chat"),
    )) as ProviderReply;
    expect(reply.response.status).toBe(307);
  });

  test("ends with upstream_timeout if the provider is silent", async () => {
    expect(
      await provider.send(vendorTarget("openai", { baseUrl: `${vendor.origin}/never` }), vendorRequest("chat", { timeoutMs: 30 })),
    ).toMatchObject({ code: "upstream_timeout" });
  });

  test("ends with upstream_unreachable if nothing listens", async () => {
    expect(await provider.send(vendorTarget("openai", { baseUrl: "http://127.0.0.1:1" }), vendorRequest("chat"))).toMatchObject({
      code: "upstream_unreachable",
    });
  });

  const LENGTHS = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n";
  test.each([
    ["a connection closed before the response", null, "end", "upstream_interrupted"],
    ["a connection reset within the response head", "HTTP/1.1 200 O", "tear", "upstream_interrupted"],
    ["another protocol", "220 mail.example ESMTP\r\n\r\n", "end", "upstream_invalid_response"],
    ["two Content-Length headers", LENGTHS, "end", "upstream_invalid_response"],
    [
      "an unrequested protocol upgrade",
      "HTTP/1.1 101 Yes\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
      "end",
      "upstream_invalid_response",
    ],
    ["an unknown Transfer-Encoding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: own\r\n\r\n", "end", "upstream_invalid_response"],
  ] as const)("does not count as unreachable after %s, because the request was sent", async (_name, head, ending, code) => {
    const raw = await startRawUpstream(() => ({ head, pieces: [], ending }));
    const refusal = await provider.send(vendorTarget("openai", { baseUrl: raw.origin }), vendorRequest("chat"));
    expect(refusal).toMatchObject({ code });
    expect(JSON.stringify(refusal)).not.toContain("verbose");
    await raw.stop();
  });

  test("to a private address is refused before anything is sent", async () => {
    const before = vendor.seen.length;
    const closed = openaiProvider(outbound({ allowPrivate: false }));
    expect(await closed.send(vendorTarget("openai", { baseUrl: vendor.origin }), vendorRequest("chat"))).toMatchObject({
      code: "upstream_address_denied",
    });
    expect(vendor.seen.length).toBe(before);
  });

  test("ends when the caller disconnects", async () => {
    const abort = new AbortController();
    const waiting = provider.send(vendorTarget("openai", { baseUrl: `${vendor.origin}/never` }), vendorRequest("chat", { abort }));
    abort.abort("client_disconnected");
    expect(isRefusal(await waiting)).toBe(true);
  });
});

test("headers of the provider record override the caller's, and the gateway's override both", () => {
  const headers = outboundHeaders(
    vendorTarget("openai", { headers: { "X-Team": "record", Authorization: "planted", "content-type": "text/plain" } }),
    vendorRequest("chat", { stream: true, headers: { "x-team": "caller", "openai-beta": "x=1" } }),
    { authorization: "Bearer key-1" },
  );
  expect(headers).toEqual({
    "x-team": "record",
    "openai-beta": "x=1",
    authorization: "Bearer key-1",
    "content-type": "application/json",
    accept: "text/event-stream",
    "accept-encoding": "identity",
    "user-agent": "gatehouse",
  });
});

test("a model name is escaped in a path segment", () => {
  expect(pathSegment("arn:aws:bedrock:us-east-1::m/a.b-1(2)?x#y")).toBe("arn%3Aaws%3Abedrock%3Aus-east-1%3A%3Am%2Fa.b-1%282%29%3Fx%23y");
});

describe("a response that the gateway reads itself", () => {
  test.each([
    [new Response('{"a":1}'), { body: { a: 1 } }],
    [new Response("[1]"), { code: "upstream_invalid_response" }],
    [new Response("nonsense"), { code: "upstream_invalid_response" }],
    [new Response(null), { code: "upstream_invalid_response" }],
    [new Response(new Uint8Array(17 * 1024 * 1024)), { code: "upstream_invalid_response" }],
  ])("is parsed, or refused as invalid: case %#", async (response, read) => {
    expect(await readJson(response, 5_000)).toMatchObject(read);
  });

  test("times out if it never ends", async () => {
    const endless = new Response(new ReadableStream({ pull: () => new Promise(() => undefined) }));
    expect(await readJson(endless, 20)).toMatchObject({ code: "upstream_timeout" });
  });
});
