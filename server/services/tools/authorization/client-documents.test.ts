import { expect, test } from "bun:test";
import { systemClock } from "../../../kernel/clock.ts";
import type { ToolServerSend } from "../../../upstreams/tool-servers/send.ts";
import { authorizationCache } from "./authorization-cache.ts";
import { documentClient } from "./client-documents.ts";

test("a host that does not answer keeps no client of another host from being known by its document", async () => {
  const send: ToolServerSend = ({ url }) =>
    new URL(url).host === "slow.example"
      ? new Promise(() => undefined)
      : Promise.resolve(Response.json({ client_id: url, client_name: "Quick", redirect_uris: ["https://quick.example/back"] }));
  const parts = { send, memory: authorizationCache(), clock: systemClock(), allowPrivate: false };
  for (let n = 0; n < 200; n++) void documentClient(parts, `https://slow.example/${n}`);
  expect(await documentClient(parts, "https://quick.example/client")).toMatchObject({ clientName: "Quick" });
});
