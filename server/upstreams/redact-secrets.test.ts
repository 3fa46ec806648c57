import { expect, test } from "bun:test";
import { redactSecrets } from "./redact-secrets.ts";
import { secretsOf } from "./request-secrets.ts";

const SECRET = "sk-upstream/secret-0123456789";
const secrets = secretsOf({ authorization: `Bearer ${SECRET}`, "x-plain": "an ordinary value", accept: "application/json" });

function streamed(text: string, size: number): Response {
  const bytes = new TextEncoder().encode(text);
  return new Response(
    new ReadableStream({
      start(controller) {
        for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
        controller.close();
      },
    }),
    { status: 401, headers: { "x-quoted": `Bearer ${SECRET}` } },
  );
}

test("a secret in an upstream's response is redacted however the stream is cut, and all else is unchanged", async () => {
  const text = `{"error":"bad key Bearer ${SECRET} or ${SECRET.replace("/", "\\/")}, sk-upstream is no secret: an ordinary value, sk-up"}`;
  for (let size = 1; size <= text.length; size++) {
    const answer = redactSecrets(streamed(text, size), secrets);
    const body = await answer.text();
    expect([answer.status, answer.headers.get("x-quoted")]).toEqual([401, `Bearer ${"*".repeat(SECRET.length)}`]);
    expect(body).toBe(
      `{"error":"bad key Bearer ${"*".repeat(29)} or ${"*".repeat(30)}, sk-upstream is no secret: an ordinary value, sk-up"}`,
    );
  }
});

test("only bytes that may begin a secret are held back", async () => {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const reader = (redactSecrets(new Response(readable), secrets).body as ReadableStream<Uint8Array>).getReader();
  void writer.write(new TextEncoder().encode("data: hello\n\nsk-up"));
  expect(new TextDecoder().decode((await reader.read()).value)).toBe("data: hello\n\n");
  void writer.write(new TextEncoder().encode("date"));
  expect(new TextDecoder().decode((await reader.read()).value)).toBe("sk-update");
  await reader.cancel();
});

test("short values and argument headers do not count as secrets", () => {
  expect(secretsOf({ authorization: "Bearer x", "x-api-key": "1234567", "mcp-param-token": "an-argument" })).toEqual([]);
});

test("a response with Content-Length is redacted in every way of reading it", async () => {
  const text = JSON.stringify({ error: `bad key ${SECRET}` });
  const mask = text.replace(SECRET, "*".repeat(SECRET.length));
  const answer = (headers: Record<string, string> = {}) =>
    redactSecrets(new Response(text, { status: 401, headers: { "content-length": String(text.length), ...headers } }), secrets);
  expect(new TextDecoder().decode(await answer().arrayBuffer())).toBe(mask);
  expect(await answer().text()).toBe(mask);
  expect(await new Response(answer().body).text()).toBe(mask);
  // Checking whether there is a body must not prevent reading it whole.
  const looked = answer();
  expect(looked.body).not.toBeNull();
  expect(Buffer.from(await looked.arrayBuffer()).toString()).toBe(mask);
  const quoted = answer({ "www-authenticate": SECRET });
  expect([quoted.headers.get("www-authenticate"), await quoted.text()]).toEqual(["*".repeat(SECRET.length), mask]);
  const plain = redactSecrets(new Response("plain", { headers: { "content-length": "5" } }), secrets);
  expect(new TextDecoder().decode(await plain.arrayBuffer())).toBe("plain");
});
