import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { registerAgent } from "../agents/a2a-harness.ts";
import { removeDirectory, temporaryDirectory } from "../../support/gateway.ts";
import { certificateAuthority, selfSigned, startTlsUpstream, type TlsUpstream } from "../../support/processes/tls-upstream.ts";
import { rowOf, type Served, serveModels } from "../../support/worlds/admin.ts";
import { until } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";

/** Upstreams with certificates of a private authority that NODE_EXTRA_CA_CERTS names, and with worse ones. */
const COMPLETION = {
  id: "c",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

let folder: string;
let world: World;
const upstreams: Record<string, TlsUpstream> = {};
const served: Record<string, Served> = {};

beforeAll(async () => {
  folder = await temporaryDirectory();
  const authority = certificateAuthority(folder);
  const certificates = {
    good: authority.issue("localhost", 2),
    "of another host": authority.issue("upstream.example", 2),
    expired: authority.issue("localhost", -1),
    "self-signed": selfSigned(folder, "localhost"),
  };
  world = await startWorld({ NODE_EXTRA_CA_CERTS: authority.file });
  for (const [name, certificate] of Object.entries(certificates)) {
    const upstream = await startTlsUpstream(certificate, JSON.stringify(COMPLETION));
    upstreams[name] = upstream;
    served[name] = await serveModels(world.admin, `${upstream.origin}/v1`, [name], { group: name, providerKey: name.replaceAll(" ", "-") });
  }
});
afterAll(async () => {
  await world?.end();
  await Promise.all(Object.values(upstreams).map((upstream) => upstream.stop()));
  await removeDirectory(folder);
});

async function chat(name: string): Promise<{ status: number; code: string | undefined; row: any; connections: number }> {
  const before = upstreams[name]?.connections() ?? 0;
  const response = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": served[name]?.apiKey ?? "" },
    body: JSON.stringify({ model: name, messages: [{ role: "user", content: "hello" }] }),
  });
  const { code } = (await response.json()) as { code?: string };
  const row = await rowOf(world.admin, { id: response.headers.get("x-request-id") });
  return { status: response.status, code, row, connections: (upstreams[name]?.connections() ?? 0) - before };
}

test("a provider with a certificate of the private authority answers", async () => {
  expect(await chat("good")).toMatchObject({ status: 200, connections: 1, row: { success: true } });
});

describe.each([
  ["of another host", "the certificate is for another host (ERR_TLS_CERT_ALTNAME_INVALID)"],
  ["expired", "certificate has expired"],
  ["self-signed", "self signed certificate"],
])("an upstream whose certificate is %s", (name, reason) => {
  test("is refused to callers after one connection, and the row gives the reason", async () => {
    const refused = await chat(name);
    expect(refused).toMatchObject({ status: 502, code: "upstream_unreachable", connections: 1 });
    expect(refused.row.error_message).toEndWith(`(${reason})`);
  });

  test("is not discovered as a tool server or an agent, and the administrator learns the reason", async () => {
    const base_url = upstreams[name]?.origin ?? "";
    const server = await world.admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name, base_url });
    expect(server.discovery).toMatchObject({ status: "inconclusive", detail: `The tool server could not be reached. (${reason})` });
    const agent = await registerAgent(world.admin, name.replaceAll(" ", "-"), base_url);
    expect(agent.discovery.detail).toEndWith(`The agent could not be reached. (${reason})`);
  });

  test("gives no documents and no bills, and the administrator learns the reason", async () => {
    const { admin } = world;
    const place = upstreams[name]?.origin ?? "";
    const base = await admin.post("/v1/admin/knowledgebases", { tenant_id: "default", name });
    const repository = {
      tenant_id: "default",
      knowledge_base_id: base.id,
      name,
      connector_type: "git",
      location: `${place}/repository.git`,
    };
    const { id } = await admin.post("/v1/admin/kb-connectors", repository);
    const { problem } = await until(
      () => admin.get(`/v1/admin/kb-connectors/${id}`),
      ({ problem: found }) => found !== null,
    );
    expect(problem).toEndWith(`(${reason}).`);
    const provider = { provider_key: `billed-${name.replaceAll(" ", "-")}`, api_format: "openai", base_url: "https://calls.example/v1" };
    const billed = `/v1/admin/usage-import/providers/${(await admin.post("/v1/admin/providers", provider)).id}`;
    await admin.request("PATCH", billed, { import_endpoint_override: place, api_key: "sk-admin-secret-0001" });
    expect((await admin.post(`${billed}/test`, undefined)).detail).toBe(`The vendor could not be reached (${reason}).`);
  });
});
