import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { type AgentCard, generateAgentCardSignature } from "@a2a-js/sdk";
import { startWorld, type World } from "../../support/world.ts";
import { call, grantAgent, message, registerAgent } from "./a2a-harness.ts";
import { newTeam, type Team } from "../tools/mcp-harness.ts";

/** Agent cards signed by the official signer and by others, and how the gateway judges them. */
let world: World;
let team: Team;
let cardText = "";
let keySet: () => Response = () => Response.json({ keys: [] });
const agent = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch(request): Response {
    const { pathname } = new URL(request.url);
    if (pathname === "/keys.json") return keySet();
    if (pathname.startsWith("/.well-known/")) return new Response(cardText, { headers: { "content-type": "application/json" } });
    return Response.json({ message: { messageId: "m", role: "ROLE_AGENT", parts: [{ text: "hello" }] } });
  },
});
const elsewhere = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => keySet() });
const url = `http://127.0.0.1:${agent.port}`;
const [own, rotated, strange] = [
  generateKeyPairSync("ed25519"),
  generateKeyPairSync("ec", { namedCurve: "P-256" }),
  generateKeyPairSync("ed25519"),
];
const jwk = (key: KeyObject, kid: string, alg: string) => ({ ...key.export({ format: "jwk" }), kid, alg, use: "sig" });
const OWN = jwk(own.publicKey, "own", "EdDSA");
const ROTATED = jwk(rotated.publicKey, "rotated", "ES256");

const plain = (more: Record<string, unknown> = {}): any => ({
  name: "Signed",
  description: "An agent that signs.",
  version: "1",
  capabilities: { streaming: false, extensions: [{ uri: "urn:x", required: false }] },
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [{ id: "s", name: "s", description: "s", tags: ["s"] }],
  supportedInterfaces: [{ url, protocolBinding: "HTTP+JSON", protocolVersion: "1.0" }],
  ...more,
});

async function sign(card: any, key: KeyObject, header: Record<string, unknown>): Promise<any> {
  const signed: any = await generateAgentCardSignature(key as never, { typ: "JOSE", ...header } as never)(card as AgentCard);
  return { ...card, signatures: signed.signatures };
}

beforeAll(async () => {
  world = await startWorld();
  team = await newTeam(world.admin, "callers");
});
beforeEach(() => {
  keySet = () => Response.json({ keys: [OWN, ROTATED] });
});
afterAll(async () => {
  await world?.end();
  await Promise.all([agent.stop(true), elsewhere.stop(true)]);
});

let made = 0;
async function registered(card: any, rest: Record<string, unknown> = {}): Promise<any> {
  cardText = JSON.stringify(card);
  return registerAgent(world.admin, `signed-${++made}`, url, rest);
}
const refreshed = (id: string) => world.admin.post(`/v1/admin/agents/${id}/refresh-card`, {});

test("a card signed with a key that the agent's own host publishes is verified, with any of the published keys", async () => {
  const first = await registered(await sign(plain(), own.privateKey, { alg: "EdDSA", kid: "own", jku: `${url}/keys.json` }));
  expect(first.card_signature).toMatchObject({ status: "verified", kid: "own", trusted_by: "agent_host" });
  const second = await registered(await sign(plain(), rotated.privateKey, { alg: "ES256", kid: "rotated", jku: `${url}/keys.json` }));
  expect(second.card_signature).toMatchObject({ status: "verified", kid: "rotated" });
});

test("a card that is unsigned or names keys on another host is accepted and marked unsigned or unverified", async () => {
  expect((await registered(plain())).card_signature).toMatchObject({ status: "unsigned", trusted_by: null });
  const jku = `http://127.0.0.1:${elsewhere.port}/keys.json`;
  const card = await sign(plain(), own.privateKey, { alg: "EdDSA", kid: "own", jku });
  const found = await registered(card);
  expect(found).toMatchObject({ discovery: { status: "found" }, card_signature: { status: "unverified" } });
  expect(found.card_signature.detail).toContain("not the agent's host");
  // Whoever registers the agent may declare that those are its keys.
  const trusted = await world.admin.request("PATCH", `/v1/admin/agents/${found.id}`, { card_keys_url: jku });
  expect(trusted.body.card_signature).toMatchObject({ status: "verified", trusted_by: "card_keys_url" });
  keySet = () => new Response(null, { status: 503 });
  expect(await refreshed(found.id)).toMatchObject({ status: "inconclusive", detail: expect.stringContaining("503") });
});

test("a card whose signature names its key or key address with control characters is accepted", async () => {
  const { kid: _kid, ...nameless } = OWN;
  keySet = () => Response.json({ keys: [nameless] });
  const named = await registered(await sign(plain(), own.privateKey, { alg: "EdDSA", kid: "ow\0n", jku: `${url}/keys.json` }));
  expect(named.card_signature).toMatchObject({ status: "verified", kid: "ow\uFFFDn" });
  const jku = `http://127.0.0.1:${elsewhere.port}/\0`;
  const placed = await registered(await sign(plain(), own.privateKey, { alg: "EdDSA", kid: "own", jku }));
  expect(placed.card_signature).toMatchObject({ status: "unverified", detail: expect.stringContaining("/\uFFFD, which is not") });
});

test("only keys on the agent's record count: a card they did not sign is refused, and the former card stays in use", async () => {
  const good = await sign(plain(), own.privateKey, { alg: "EdDSA", kid: "own" });
  const { id, card_signature: found, card_name: name } = await registered(good, { card_keys: [OWN] });
  expect(found).toMatchObject({ status: "verified", trusted_by: "card_keys" });
  await grantAgent(world.admin, id, [team.groupId]);
  const send = () => call(`${world.gateway.runtimeUrl}/a2a/default/${name}`, team.apiKey, "POST", "/message:send", message("x"));
  expect((await send()).status).toBe(200);

  const forged = [
    plain(),
    { ...good, name: "Another" },
    { ...good, skills: [...good.skills, { id: "more", name: "more", description: "more", tags: ["x"] }] },
    await sign(plain(), strange.privateKey, { alg: "EdDSA", kid: "own", jku: `${url}/keys.json` }),
    { ...plain(), signatures: [{ protected: Buffer.from('{"alg":"none","kid":"own"}').toString("base64url"), signature: "" }] },
    { ...plain(), signatures: "none" },
    { ...plain(), signatures: Array.from({ length: 5_000 }, () => ({ protected: "!", signature: "!" })) },
  ];
  for (const card of forged) {
    cardText = JSON.stringify(card);
    expect(await refreshed(id)).toMatchObject({
      status: "inconclusive",
      difference: null,
      agent: { is_healthy: false, card_signature: { status: "failed" }, upstream_card: { name: "Signed", skills: [{ id: "s" }] } },
    });
    expect((await send()).status).toBe(200);
  }
  const { entries } = await world.admin.get("/v1/admin/admin-log?resource=agents&action=refuse_card");
  // Logged once for each different reason, not on every refresh.
  expect(entries.filter((entry: any) => entry.resource_id === id)).toHaveLength(4);

  // With other keys on the record, the result of the old keys no longer counts.
  cardText = JSON.stringify(good);
  const changed = await world.admin.request("PATCH", `/v1/admin/agents/${id}`, { card_keys: [ROTATED] });
  expect(changed.body).toMatchObject({ upstream_card: null, card_signature: { status: "failed" } });
  expect((await send()).status).not.toBe(200);
  const back = await world.admin.request("PATCH", `/v1/admin/agents/${id}`, { card_keys: [ROTATED, OWN] });
  expect(back.body.card_signature).toMatchObject({ status: "verified", kid: "own" });
  expect((await send()).status).toBe(200);
});

test("refreshing an unchanged card reports no difference and is not logged again", async () => {
  const { id } = await registered(plain());
  for (let at = 0; at < 2; at++)
    expect(await refreshed(id)).toMatchObject({
      status: "found",
      difference: { changes: [], skills_added: [] },
      agent: { is_healthy: true },
    });
  const { entries } = await world.admin.get("/v1/admin/admin-log?resource=agents&action=refresh_card");
  expect(entries.filter((entry: any) => entry.resource_id === id)).toHaveLength(1);
});

test("a removed signature is reported as a difference", async () => {
  const { id } = await registered(await sign(plain(), own.privateKey, { alg: "EdDSA", kid: "own", jku: `${url}/keys.json` }));
  cardText = JSON.stringify(plain());
  expect((await refreshed(id)).difference.changes).toContain("signature: verified is now unsigned");
});

test("a card with empty values and non-ASCII text, signed by the official SDK, is verified", async () => {
  const odd = plain({ description: "Grüße", documentationUrl: "", securityRequirements: [], iconUrl: "" });
  const bySdk = await sign(odd, own.privateKey, { alg: "EdDSA", kid: "own" });
  expect((await registered(bySdk, { card_keys: [OWN] })).card_signature.status).toBe("verified");
});

test("a private key, two sources of keys or an unknown key type is refused, naming the field", async () => {
  const tried = async (rest: Record<string, unknown>) => {
    const { status, body } = await world.admin.request("POST", "/v1/admin/agents", {
      tenant_id: "default",
      card_name: "refused",
      name: "refused",
      base_url: url,
      ...rest,
    });
    return [status, body.fields?.[0]?.field];
  };
  expect(await tried({ card_keys: [{ ...own.privateKey.export({ format: "jwk" }) }] })).toEqual([400, "card_keys.0.d"]);
  expect(await tried({ card_keys: [OWN], card_keys_url: `${url}/keys.json` })).toEqual([400, "card_keys_url"]);
  expect(await tried({ card_keys: [{ kty: "oct", k: "AA" }] })).toEqual([400, "card_keys.0.kty"]);
});
