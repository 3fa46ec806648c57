import { expect, test } from "bun:test";
import { isRefusal } from "../../kernel/errors.ts";
import type { ToolServerSend } from "./send.ts";
import { withSseServers } from "./sse-servers.ts";

const URL_OF_STREAM = "https://tools.example/sse";

/** A server of the HTTP+SSE transport that answers everything at once. */
function sseServer(): ToolServerSend {
  const encoder = new TextEncoder();
  const streams: ReadableStreamDefaultController<Uint8Array>[] = [];
  return async ({ url, method, body }) => {
    if (method === "GET") {
      const start = (controller: ReadableStreamDefaultController<Uint8Array>) => {
        controller.enqueue(encoder.encode(`event: endpoint\ndata: /messages?of=${streams.push(controller) - 1}\n\n`));
      };
      return new Response(new ReadableStream({ start }), { headers: { "content-type": "text/event-stream" } });
    }
    if (url === URL_OF_STREAM) return new Response(null, { status: 405 });
    const { id } = JSON.parse(String(body ?? "{}"));
    streams[Number(new URL(url).searchParams.get("of"))]?.enqueue(
      encoder.encode(`data: ${JSON.stringify({ jsonrpc: "2.0", id, result: {} })}\n\n`),
    );
    return new Response(null, { status: 202 });
  };
}

test("too many SSE connections of one tenant close only that tenant's own, not another tenant's", async () => {
  const send = withSseServers(sseServer());
  const ask = async (tenantId: string, method: string, session?: string) => {
    const headers: Record<string, string> = session === undefined ? {} : { "mcp-session-id": session };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method });
    const asked = { url: URL_OF_STREAM, method: "POST", headers, body, abort: new AbortController(), timeoutMs: 60_000, tenantId };
    const answer = await send(asked);
    if (isRefusal(answer)) throw new Error(answer.message);
    await answer.text();
    return { status: answer.status, session: answer.headers.get("mcp-session-id") ?? "" };
  };
  const [theirs, first] = [await ask("acme", "initialize"), await ask("default", "initialize")];
  for (let i = 0; i < 256; i++) await ask("default", "initialize");
  expect((await ask("default", "ping", first.session)).status).toBe(404);
  expect((await ask("acme", "ping", theirs.session)).status).toBe(200);
});
