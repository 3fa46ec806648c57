import { expect, test } from "bun:test";
import type { ToolServerEntry } from "../../../directory/tools/tool-server-entry.ts";
import { openCall } from "../../../road/record/open.ts";
import { authorizationCache } from "./authorization-cache.ts";
import type { ServerAuthorizationParts } from "./authorization-parts.ts";
import { authorizedSend } from "./authorize-server.ts";

test("while a caller's tokens cannot be looked up, the tool server is not called, and the caller is told to retry", async () => {
  const server = { id: "mcp-1", url: "https://tools.example/mcp", baseUrl: "https://tools.example", authType: "oauth" } as ToolServerEntry;
  let sent = 0;
  const parts = {
    memory: authorizationCache(),
    db: {
      selectFrom: () => {
        throw new Error("away");
      },
    },
    send: async () => {
      sent++;
      return new Response();
    },
  } as unknown as ServerAuthorizationParts;
  const request = new Request("http://gateway/v1/proxy/mcp/mcp-1", { method: "POST" });
  const call = openCall(request, "", { proxyType: "mcp", proxySubtype: "mcp_jsonrpc" }, { now: () => 0, micros: () => 0 });
  call.identity = { tenantId: "acme", credentialId: "key", credentialName: "key", userId: null, username: null };
  const send = authorizedSend(parts, call, [server]);
  const answer = await send({ url: server.url, method: "POST", headers: {}, abort: new AbortController(), timeoutMs: 1_000 });
  expect(answer).toMatchObject({ code: "directory_unavailable", headers: { "retry-after": "1" }, reason: "away" });
  expect(sent).toBe(0);
});
