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

describe("what the network does to a call", () => {
  test("the vendor's own refusals are answers", async () => {
    const reply = (await provider.send(vendorTarget("openai", { baseUrl: vendor.origin }), vendorRequest("chat"))) as ProviderReply;
    expect([reply.response.status, reply.requestId]).toEqual([429, "req_1"]);
  });

  test("a redirect is not followed", async () => {
    const reply = (await provider.send(
      vendorTarget("openai", { baseUrl: `${vendor.origin}/redirect` }),
      vendorRequest("chat"),
    )) as ProviderReply;
    expect(reply.response.status).toBe(307);
  });

  test("silence is upstream_timeout", async () => {
    expect(
      await provider.send(vendorTarget("openai", { baseUrl: `${vendor.origin}/never` }), vendorRequest("chat", { timeoutMs: 30 })),
    ).toMatchObject({ code: "upstream_timeout" });
  });

  test("an address nobody listens at is upstream_unreachable", async () => {
    expect(await provider.send(vendorTarget("openai", { baseUrl: "http://127.0.0.1:1" }), vendorRequest("chat"))).toMatchObject({
      code: "upstream_unreachable",
    });
  });

  const LENGTHS = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n";
  test.each([
    ["a connection that is ended before the answer", null, "end", "upstream_interrupted"],
    ["one that is reset in the middle of a head", "HTTP/1.1 200 O", "tear", "upstream_interrupted"],
    ["another protocol", "220 mail.example ESMTP\r\n\r\n", "end", "upstream_invalid_response"],
    ["two lengths", LENGTHS, "end", "upstream_invalid_response"],
    [
      "an upgrade that nobody asked for",
      "HTTP/1.1 101 Yes\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
      "end",
      "upstream_invalid_response",
    ],
    ["a coding of its own", "HTTP/1.1 200 OK\r\nTransfer-Encoding: own\r\n\r\n", "end", "upstream_invalid_response"],
  ] as const)(
    "%s is not taken for an address that cannot be reached: the provider has what it was sent",
    async (_name, head, ending, code) => {
      const raw = await startRawUpstream(() => ({ head, pieces: [], ending }));
      const refusal = await provider.send(vendorTarget("openai", { baseUrl: raw.origin }), vendorRequest("chat"));
      expect(refusal).toMatchObject({ code });
      expect(JSON.stringify(refusal)).not.toContain("verbose");
      await raw.stop();
    },
  );

  test("a private address is refused before anything is sent", async () => {
    const before = vendor.seen.length;
    const closed = openaiProvider(outbound({ allowPrivate: false }));
    expect(await closed.send(vendorTarget("openai", { baseUrl: vendor.origin }), vendorRequest("chat"))).toMatchObject({
      code: "upstream_address_denied",
    });
    expect(vendor.seen.length).toBe(before);
  });

  test("a caller who is gone ends the call", async () => {
    const abort = new AbortController();
    const waiting = provider.send(vendorTarget("openai", { baseUrl: `${vendor.origin}/never` }), vendorRequest("chat", { abort }));
    abort.abort("client_disconnected");
    expect(isRefusal(await waiting)).toBe(true);
  });
});

test("the provider record's headers stand over the caller's, the gateway's over both", () => {
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

test("a path segment keeps nothing that could end it", () => {
  expect(pathSegment("arn:aws:bedrock:us-east-1::m/a.b-1(2)?x#y")).toBe("arn%3Aaws%3Abedrock%3Aus-east-1%3A%3Am%2Fa.b-1%282%29%3Fx%23y");
});

describe("an answer the gateway reads itself", () => {
  test.each([
    [new Response('{"a":1}'), { body: { a: 1 } }],
    [new Response("[1]"), { code: "upstream_invalid_response" }],
    [new Response("nonsense"), { code: "upstream_invalid_response" }],
    [new Response(null), { code: "upstream_invalid_response" }],
    [new Response(new Uint8Array(17 * 1024 * 1024)), { code: "upstream_invalid_response" }],
  ])("%#", async (response, read) => {
    expect(await readJson(response, 5_000)).toMatchObject(read);
  });

  test("one that never ends is given up", async () => {
    const endless = new Response(new ReadableStream({ pull: () => new Promise(() => undefined) }));
    expect(await readJson(endless, 20)).toMatchObject({ code: "upstream_timeout" });
  });
});
