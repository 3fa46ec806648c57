import { afterAll, beforeAll, expect, test } from "bun:test";
import { compose, type Gateway } from "../../../server/compose.ts";
import { readConfiguration } from "../../../server/kernel/configuration/configuration.ts";
import { jsonLog } from "../../../server/kernel/log.ts";
import { type AdminClient, rowOf, signIn } from "../../support/worlds/admin.ts";
import {
  type AuthorizationServerFixture,
  type ProtectedServerFixture,
  startAuthorizationServer,
  startProtectedServer,
} from "../../support/identity/authorization-server.ts";
import { testDatabase } from "../../support/database.ts";
import { ADMIN_PASSWORD, removeDirectory, temporaryDirectory } from "../../support/gateway.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import { until } from "../../support/until.ts";
import { grant, newTeam, post, stateless, type Team } from "./mcp-harness.ts";
import { begunAt, codeFor } from "./oauth-harness.ts";

/** Two processes on one database with a shared secret key, as in a fleet. */
const gateways: Gateway[] = [];
const directories: string[] = [];
const statements: string[] = [];
let at: AuthorizationServerFixture;
let tools: ProtectedServerFixture;
let admin: AdminClient;
let team: Team;
let serverId: string;
let closeDatabase: () => Promise<void>;

beforeAll(async () => {
  const database = await testDatabase();
  closeDatabase = database.close;
  const secretKey = Buffer.alloc(32, 3).toString("base64");
  for (let n = 0; n < 2; n++) {
    const dataDir = await temporaryDirectory();
    directories.push(dataDir);
    const env = {
      GW_RUNTIME_PORT: "0",
      GW_ADMIN_PORT: "0",
      GW_DATA_DIR: dataDir,
      DATABASE_URL: database.url,
      GW_SECRET_KEY: secretKey,
      GW_BOOTSTRAP_ADMIN_PASSWORD: ADMIN_PASSWORD,
    };
    gateways.push(await compose(readConfiguration(env), env, jsonLog("error"), { onQuery: (sql) => statements.push(sql) }));
  }
  tools = startProtectedServer("stateless", () => at);
  at = await startAuthorizationServer({ resources: () => [`${tools.baseUrl}/mcp`] });
  admin = await signIn((gateways[0] as Gateway).adminUrl);
  team = await newTeam(admin, "fleet");
  serverId = (
    await admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name: "fleet", base_url: tools.baseUrl, auth_type: "oauth" })
  ).id;
  await grant(admin, "fleet", serverId, [team.groupId]);
  // Both know the server once both ask for an account.
  for (let n = 0; n < 2; n++) await eventually(n, 401);
});

afterAll(async () => {
  for (const gateway of gateways) await gateway.stop(1);
  await at.stop();
  await tools.stop();
  await closeDatabase();
  for (const directory of directories) await removeDirectory(directory);
});

const url = (n: number) => gateways[n]?.runtimeUrl as string;
const call = (n: number, headers: Record<string, string> = { "x-api-key": team.apiKey }) =>
  post(`${url(n)}/v1/proxy/mcp/${serverId}`, "", stateless(1, "tools/call", { name: "echo", arguments: { text: "hi" } }), {
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "echo",
    ...headers,
  });

async function eventually(n: number, status: number): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while ((await call(n)).status !== status) if (Date.now() > deadline) throw new Error(`process ${n} never answered ${status}`);
}

test("tokens obtained at one process are used at the other, renewed once by both, and removed from both", async () => {
  const client = await begunAt(url(0), serverId, team.apiKey);
  at.accessSeconds = 20;
  const { body } = await client.redeem(await codeFor(client, "ada"));
  at.accessSeconds = 3600;
  expect((await call(1, { authorization: `Bearer ${body.access_token}` })).status).toBe(200);
  const renewals = () => at.seen.filter(({ path, values }) => path === "/token" && values.grant_type === "refresh_token").length;
  const answers = await Promise.all(Array.from({ length: 16 }, (_, n) => call(n % 2)));
  expect([...new Set(answers.map(({ status }) => status)), renewals()]).toEqual([200, 1]);

  const [kept] = ((await (await fetch(`${client.broker}/tokens`, { headers: { "x-api-key": team.apiKey } })).json()) as any).tokens;
  await fetch(`${client.broker}/tokens/${kept.id}`, { method: "DELETE", headers: { "x-api-key": team.apiKey } });
  expect((await call(0)).status).toBe(401);
  await eventually(1, 401);
});

test("while the issuer is down calls continue until the token expires, then fail with an upstream error", async () => {
  const client = await begunAt(url(0), serverId, team.apiKey);
  at.accessSeconds = 3;
  await client.redeem(await codeFor(client, "ada"));
  at.failTokens = 1000;
  expect((await call(0)).status).toBe(200);
  const deadline = Date.now() + PATIENCE_MS;
  let answer = await call(0);
  while (answer.status === 200 && Date.now() < deadline) answer = await call(0);
  expect([answer.status, answer.body.error.data.code]).toEqual([502, "upstream_invalid_response"]);
  at.failTokens = 0;
  at.accessSeconds = 3600;
  expect((await call(0)).status).toBe(200);
});

test("a call in steady state reads no database", async () => {
  const reads = () => statements.filter((sql) => /oauth_|mcp_|api_keys/i.test(sql) && !/^insert into "?audit|usage|last_used/i.test(sql));
  // Earlier changes are applied first.
  do {
    statements.length = 0;
    for (let n = 0; n < 10; n++) expect((await call(0)).status).toBe(200);
  } while (reads().length > 0);
  for (let n = 0; n < 50; n++) expect((await call(0)).status).toBe(200);
  expect(reads()).toEqual([]);
});

test("a connected account is listed and removed while its tool server and issuer are down", async () => {
  const server = startProtectedServer("stateless", () => issuer);
  const issuer = await startAuthorizationServer({ resources: () => [`${server.baseUrl}/mcp`] });
  const { id } = await admin.post("/v1/admin/mcp-servers", {
    tenant_id: "default",
    name: "away",
    base_url: server.baseUrl,
    auth_type: "oauth",
  });
  await grant(admin, "away", id, [team.groupId]);
  const client = await begunAt(url(0), id, team.apiKey);
  await client.redeem(await codeFor(client, "ada"));
  await issuer.stop();
  await server.stop();
  // The other process has never contacted either of them.
  const broker = client.broker.replace(url(0), url(1));
  const headers = { "x-api-key": team.apiKey };
  const list = async () => (await (await fetch(`${broker}/tokens`, { headers })).json()) as any;
  // The new server reaches the other process within a second.
  const { tokens } = await until(list, (found) => found.tokens?.length === 1);
  expect(tokens).toMatchObject([{ mcp_server_id: id, issuer: issuer.issuer }]);
  expect((await fetch(`${broker}/tokens/${crypto.randomUUID()}`, { method: "DELETE", headers })).status).toBe(404);
  expect((await fetch(`${broker}/tokens/${tokens[0].id}`, { method: "DELETE", headers })).status).toBe(204);
  expect(await rowOf(admin, { proxy_subtype: "oauth_tokens", server_id: id, http_status_code: 204 })).toMatchObject({
    http_method: "DELETE",
    target_url: issuer.issuer,
  });
});
