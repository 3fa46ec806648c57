import { expect, test } from "bun:test";
import type { ToolServerEntry } from "../../../directory/tools/tool-server-entry.ts";
import { authorizationCache } from "../authorization/authorization-cache.ts";
import { openCall } from "../../../road/record/open.ts";
import { sessionOwner } from "../forwarding/server-exchange.ts";
import type { ToolParts } from "../tool-parts.ts";

test("a caller with a token of its own is served while the database is unreachable, because no stored token is needed", async () => {
  const server = { id: "mcp-1", url: "https://tools.example/mcp", authType: "oauth" } as ToolServerEntry;
  const db = {
    selectFrom: () => {
      throw new Error("away");
    },
  };
  const parts = { authorization: { db, memory: authorizationCache() } } as unknown as ToolParts;
  const callWith = (headers: Record<string, string>) => {
    const request = new Request("http://gateway/v1/proxy/mcp/mcp-1", {
      method: "POST",
      headers: { "x-api-key": `sk_gw_api_${"a".repeat(43)}`, ...headers },
    });
    const call = openCall(request, "", { proxyType: "mcp", proxySubtype: "mcp_jsonrpc" }, { now: () => 0, micros: () => 0 });
    call.identity = { tenantId: "acme", credentialId: "key", credentialName: "key", userId: null, username: null };
    return call;
  };
  expect(await sessionOwner(callWith({ authorization: "Bearer own-token" }), server, { session: null }, parts)).toBe("acme\nkey");
  expect(sessionOwner(callWith({}), server, { session: null }, parts)).rejects.toThrow("away");
});
