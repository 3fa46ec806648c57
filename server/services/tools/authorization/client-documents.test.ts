import { expect, test } from "bun:test";
import { systemClock } from "../../../kernel/clock.ts";
import type { ToolServerSend } from "../../../upstreams/tool-servers/send.ts";
import { authorizationCache } from "./authorization-cache.ts";
import { documentClient } from "./client-documents.ts";

const quick = { clientName: "Quick" };

function documentParts() {
  const send: ToolServerSend = ({ url }) =>
    new URL(url).hostname.endsWith("slow.example")
      ? new Promise(() => undefined)
      : Promise.resolve(Response.json({ client_id: url, client_name: "Quick", redirect_uris: ["https://quick.example/back"] }));
  return { send, memory: authorizationCache(), clock: systemClock(), allowPrivate: false };
}

test("a host that does not answer does not block client documents of other hosts", async () => {
  const parts = documentParts();
  for (let n = 0; n < 200; n++) void documentClient(parts, `https://slow.example/${n}`, `192.0.2.${n}`);
  expect(await documentClient(parts, "https://quick.example/client", "192.0.2.0")).toMatchObject(quick);
});

test("a client that names many slow hosts does not block other clients' documents", async () => {
  const parts = documentParts();
  for (let n = 0; n < 200; n++) void documentClient(parts, `https://${n}.slow.example/client`, "192.0.2.1");
  expect(await documentClient(parts, "https://quick.example/client", "192.0.2.2")).toMatchObject(quick);
});

test("a lookup queued behind many slow hosts does not block another client's lookup of the same document", async () => {
  const parts = documentParts();
  for (let n = 0; n < 200; n++) void documentClient(parts, `https://${n}.slow.example/client`, "192.0.2.1");
  void documentClient(parts, "https://quick.example/client", "192.0.2.1");
  expect(await documentClient(parts, "https://quick.example/client", "192.0.2.2")).toMatchObject(quick);
});
