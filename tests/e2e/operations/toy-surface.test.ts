import { afterAll, beforeAll, expect, test } from "bun:test";
import { compose, type Gateway } from "../../../server/compose.ts";
import { readConfiguration } from "../../../server/kernel/configuration/configuration.ts";
import { isRefusal, type Refusal, refuse } from "../../../server/kernel/errors.ts";
import { jsonLog } from "../../../server/kernel/log.ts";
import { actionOn } from "../../../server/road/action.ts";
import { type Answer, jsonAnswer } from "../../../server/road/answer.ts";
import { heldRefusal } from "../../../server/road/policy/approval-required.ts";
import type { Call } from "../../../server/road/call.ts";
import { EMPTY_VIEW } from "../../../server/road/request/empty-view.ts";
import type { Outlet } from "../../../server/road/outlet.ts";
import type { Surface } from "../../../server/road/surface.ts";
import { toolsOf } from "../../../server/road/target.ts";
import { GOVERNED_ROUTES } from "../../../server/routes.ts";
import type { TextSlot } from "../../../server/wire/inbound.ts";
import { type AdminClient, rowOf, signIn, signInAsApprover } from "../../support/worlds/admin.ts";
import { testDatabase, type TestDatabase } from "../../support/database.ts";
import { ADMIN_PASSWORD, removeDirectory, temporaryDirectory } from "../../support/gateway.ts";
import { grant, newTeam, type Team } from "../tools/mcp-harness.ts";

/** A custom protocol with a custom upstream, written as CONTRIBUTING describes: it names no control, and passes all of them. */

/** `POST /v1/toy/{server_id}` with `{do, with}`; answers `{said}`. */
interface ToyRequest {
  readonly serverId: string;
  readonly name: string;
  given: string;
}

/** The upstream: records what it was asked, and answers. */
class ToyUpstream {
  readonly asked: string[] = [];
  say(name: string, given: string): string {
    this.asked.push(`${name} ${given}`);
    return given.includes("leak") ? "The key is ghp_k3XbWq9LmZ7vTn2RcYd5HfPs8JgA1uEoGi4Q" : `done: ${given}`;
  }
}

/** The service: the upstream behind its outlet. */
async function doToy(call: Call, { name, given }: ToyRequest, outlet: Outlet<ToyUpstream>): Promise<Answer | Refusal> {
  const target = toolsOf(call)?.targets[0];
  if (target === undefined) throw new Error("a call was dispatched that no control had resolved");
  const passage = await outlet.open(call, actionOn(target, name, given));
  if (isRefusal(passage)) return passage;
  if (passage.kind === "hold") return heldRefusal(passage.approval);
  const unrecorded = outlet.depart(call, target.server.url, given);
  if (unrecorded !== null) return unrecorded;
  let said = passage.upstream.say(name, given);
  const refused = await passage.inspect("mcp_output", [
    {
      role: "tool",
      kind: "text",
      text: said,
      replace(text) {
        said = text;
      },
    },
  ]);
  return refused ?? jsonAnswer({ said });
}

/** The surface: reads the wire format into a view. */
function toySurface(outlet: Outlet<ToyUpstream>): Surface {
  return {
    read(call, body) {
      const asked = JSON.parse(new TextDecoder().decode(body ?? new Uint8Array())) as { do?: unknown; with?: unknown };
      if (typeof asked.do !== "string") return refuse("invalid_body", undefined, { fields: [{ field: "do", message: "is required" }] });
      const request: ToyRequest = { serverId: call.path.slice("/v1/toy/".length), name: asked.do, given: JSON.stringify(asked.with ?? {}) };
      const slots = (): readonly TextSlot[] => [
        {
          role: "tool",
          kind: "arguments",
          text: request.given,
          replace(text) {
            request.given = text;
          },
        },
      ];
      return {
        view: {
          ...EMPTY_VIEW,
          target: {
            kind: "tool",
            server: "single",
            serverId: request.serverId,
            dialect: "stateless",
            method: "tools/call",
            listens: false,
            capability: { type: "tool", name: request.name },
            arguments: undefined,
          },
          texts: slots,
          content: () => request.given,
          inputCharacters: request.given.length,
        },
        answer: (admitted) => doToy(admitted, request, outlet),
      };
    },
    refusal: (refusal) => ({ headers: {}, body: JSON.stringify({ toy_error: refusal.code, message: refusal.message, ...refusal.extra }) }),
    streamError: () => new Uint8Array(),
  };
}

const upstream = new ToyUpstream();
const routes = GOVERNED_ROUTES as unknown as object[];
let database: TestDatabase;
let dataDir: string;
let gateway: Gateway;
let admin: AdminClient;
let approver: AdminClient;
let team: Team;
let stranger: Team;
let limited: Team;
let serverId: string;

beforeAll(async () => {
  routes.push({
    method: "POST",
    path: "/v1/toy/:server_id",
    surface: ({ outletTo }: { outletTo: <U>(one: U) => Outlet<U> }) => toySurface(outletTo(upstream)),
    audit: { proxyType: "mcp", proxySubtype: "mcp_jsonrpc" },
    body: true,
  });
  database = await testDatabase();
  dataDir = await temporaryDirectory();
  const env = {
    GW_DATA_DIR: dataDir,
    GW_RUNTIME_PORT: "0",
    GW_ADMIN_PORT: "0",
    GW_QUICKSTART: "off",
    GW_BOOTSTRAP_ADMIN_PASSWORD: ADMIN_PASSWORD,
    DATABASE_URL: database.url,
  };
  gateway = await compose(readConfiguration(env), env, jsonLog("error"));
  admin = await signIn(gateway.adminUrl);
  approver = await signInAsApprover(gateway.adminUrl, admin);
  [team, stranger, limited] = [await newTeam(admin, "toys"), await newTeam(admin, "strangers"), await newTeam(admin, "limited")];
  const tenant = { tenant_id: "default" };
  serverId = (await admin.post("/v1/admin/mcp-servers", { ...tenant, name: "toys", base_url: "http://127.0.0.1:9" })).id;
  await grant(admin, "toys", serverId, [team.groupId, limited.groupId], {
    approval_required_tools: ["launch"],
    disabled_tools: ["explode"],
  });
  await admin.post("/v1/admin/guardrails/configs", {
    ...tenant,
    name: "toy wall",
    group_ids: [team.groupId],
    surfaces: { mcp_input: true, mcp_output: true },
    builtin: { pii_enabled: true, pii_action: "redact", secrets_enabled: true },
  });
  await admin.post("/v1/admin/argument-policies", {
    ...tenant,
    name: "no deletion",
    target: "query",
    argument_key: "text",
    analyzer: "sql",
    rules: [{ deny_if: "writes", message: "Reading only." }],
    group_ids: [team.groupId],
  });
  const path = `/v1/admin/resource-groups/${limited.groupId}/mcp-global-limits`;
  await admin.request("PATCH", path, { mcp_global_limits: { frequency: { max_calls_per_minute: 1, burst_limit: 1 } } });
});
afterAll(async () => {
  routes.pop();
  await gateway.stop(1);
  await database.close();
  await removeDirectory(dataDir);
});

async function toy(name: string, given: object, { key = team.apiKey, token }: { key?: string; token?: string } = {}) {
  const before = upstream.asked.length;
  const response = await fetch(`${gateway.runtimeUrl}/v1/toy/${serverId}`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json", ...(token === undefined ? {} : { "x-approval-token": token }) },
    body: JSON.stringify({ do: name, with: given }),
  });
  const body = (await response.json()) as any;
  const row = await rowOf(admin, { id: response.headers.get("x-request-id") });
  return { status: response.status, headers: response.headers, body, row, asked: upstream.asked.slice(before) };
}

test("access: an ungranted server and a disabled tool are refused", async () => {
  const refused = await toy("echo", {}, { key: stranger.apiKey });
  expect([refused.status, refused.body.toy_error, refused.asked]).toEqual([403, "tool_server_not_allowed", []]);
  const off = await toy("explode", {});
  expect([off.status, off.body.toy_error, off.asked]).toEqual([403, "tool_not_allowed", []]);
  expect(off.row).toMatchObject({ success: false, error_type: "tool_not_allowed" });
});

test("limits: a call over the limit is refused", async () => {
  expect((await toy("echo", {}, { key: limited.apiKey })).status).toBe(200);
  const over = await toy("echo", {}, { key: limited.apiKey });
  expect([over.status, over.body.toy_error, over.asked]).toEqual([429, "rate_limit_exceeded", []]);
});

test("guardrails: input is redacted and output is blocked", async () => {
  const redacted = await toy("echo", { text: "Mail joe@example.com" });
  expect([redacted.status, redacted.asked]).toEqual([200, ['echo {"text":"Mail [REDACTED:email]"}']]);
  expect(redacted.row).toMatchObject({ guardrail_action: "redact", pii_detected: true, success: true });
  const blocked = await toy("echo", { text: "leak" });
  expect([blocked.status, blocked.body]).toMatchObject([403, { toy_error: "guardrail_blocked", check: "secrets", direction: "output" }]);
  expect(JSON.stringify([blocked.body, blocked.row])).not.toContain("ghp_");
});

test("argument policies: a denied call does not reach the upstream", async () => {
  const denied = await toy("query", { text: "DELETE FROM t" });
  expect([denied.status, denied.body, denied.asked]).toMatchObject([
    403,
    { toy_error: "argument_policy_denied", message: "Reading only." },
    [],
  ]);
  expect(denied.row).toMatchObject({ argument_policy_denied: true, success: false });
  expect((await toy("query", { text: "SELECT 1" })).status).toBe(200);
});

test("approvals: a call is held until approved, and the approval is valid once", async () => {
  const held = await toy("launch", { to: "the moon" });
  expect([held.body.toy_error, held.asked]).toEqual(["approval_required", []]);
  expect(held.row).toMatchObject({ proxy_subtype: "approval_required", agent_authz_decision: "approval_required" });
  const { approval_token: token } = await approver.post(`/v1/admin/approvals/${held.body.approval_id}/approve`, { note: "go" });
  const changed = await toy("launch", { to: "the sun" }, { token });
  expect([changed.body.toy_error, changed.asked]).toEqual(["approval_token_invalid", []]);
  const done = await toy("launch", { to: "the moon" }, { token });
  expect([done.status, done.asked]).toEqual([200, ['launch {"to":"the moon"}']]);
  expect(done.row).toMatchObject({ consumed_approval_request_id: held.body.approval_id, agent_authz_decision: "allow", success: true });
  expect((await toy("launch", { to: "the moon" }, { token })).asked).toEqual([]);
});

test("audit: every call has one row with its target URL", async () => {
  const { row } = await toy("echo", { text: "hi" });
  expect(row).toMatchObject({
    target_url: expect.stringContaining("http://127.0.0.1:9"),
    http_status_code: 200,
    api_key_id: team.apiKeyId,
  });
  expect(row.request_content_hash).toMatch(/^[0-9a-f]{64}$/);
});
