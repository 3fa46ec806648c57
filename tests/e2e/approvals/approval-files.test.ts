import { afterAll, beforeAll, expect, test } from "bun:test";
import { hash, randomBytes } from "node:crypto";
import { type AdminClient, signIn, signInAsApprover } from "../../support/worlds/admin.ts";
import { ADMIN_PASSWORD } from "../../support/gateway.ts";
import { startStatelessServer, type ToolServerFixture } from "../../support/tool-servers/tool-servers.ts";
import { startWorld, type World } from "../../support/world.ts";
import { grant, newTeam, post, stateless, type Team, textOf } from "../tools/mcp-harness.ts";

/** Calls with a file too large for a person to review as base64. */
let world: World;
let server: ToolServerFixture;
let team: Team;
let approver: AdminClient;
let url: string;

beforeAll(async () => {
  world = await startWorld();
  approver = await signInAsApprover(world.gateway.adminUrl, world.admin);
  server = startStatelessServer();
  team = await newTeam(world.admin, "askers");
  const { id } = await world.admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name: "files", base_url: server.baseUrl });
  await grant(world.admin, "files with approval", id, [team.groupId], { approval_required_tools: ["echo"] });
  url = `${world.gateway.runtimeUrl}/v1/proxy/mcp/${id}`;
});
afterAll(async () => {
  await world?.end();
  await server?.stop();
});

const send = (text: string, token?: string) =>
  post(
    url,
    team.apiKey,
    stateless(1, "tools/call", { name: "echo", arguments: { text } }),
    token === undefined ? {} : { "x-approval-token": token },
  );

test("a call with a large file is approved by the file's digest, and for no other file", async () => {
  const file = randomBytes(300_000);
  const digest = hash("sha256", file, "hex");
  const text = `data:application/pdf;base64,${file.toString("base64")}`;
  const { approval_id: id } = (await send(text)).body.error.data;
  const seen = await approver.get(`/v1/admin/approvals/${id}`);
  expect(seen.call_arguments).toEqual({ text: `data:application/pdf;base64,(base64 of 300000 bytes, SHA-256 ${digest})` });
  expect(seen.request_metadata.digested_parts).toEqual([{ bytes: 300_000, sha256: digest }]);
  const account = { tenant_id: "default", username: "looks-on", password: ADMIN_PASSWORD };
  await world.admin.post("/v1/admin/admin-users", { ...account, role: "viewer" });
  const viewer = await signIn(world.gateway.adminUrl, account, "tenant");
  expect(JSON.stringify(await viewer.get(`/v1/admin/approvals/${id}`))).not.toContain(digest);

  expect((await send(text)).body.error.data.approval_id).toBe(id);
  const { approval_token: token } = await approver.post(`/v1/admin/approvals/${id}/approve`, {});
  file[0] = (file[0] as number) ^ 1;
  const other = await send(`data:application/pdf;base64,${file.toString("base64")}`, token);
  expect(other.body.error.data.code).toBe("approval_token_invalid");
  expect(textOf((await send(text, token)).body.result)).toContain(text);
});

test("a call with a text too long to review is refused with 413", async () => {
  const answer = await send("read me ".repeat(40_000));
  expect([answer.status, answer.body.error.data.code]).toEqual([413, "tool_payload_too_large"]);
});
