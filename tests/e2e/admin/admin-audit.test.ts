import { afterAll, beforeAll, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { isoMicros, systemClock } from "../../../server/kernel/clock.ts";
import { ulid } from "../../../server/kernel/ids.ts";
import { jsonLog } from "../../../server/kernel/log.ts";
import { openLedger, type Ledger } from "../../../server/ledger/ledger.ts";
import { ADMIN_PASSWORD, controlPlane, newTenant, type ControlPlane, type TenantWithAdmin } from "./admin-harness.ts";

const clock = systemClock();
const journal = mkdtempSync(join(tmpdir(), "gatehouse-admin-audit-"));
let plane: ControlPlane;
let acme: TenantWithAdmin;
let ledger: Ledger;
const rowIds: Record<string, string[]> = { acme: [], beta: [] };

beforeAll(async () => {
  let live: Ledger | null = null;
  plane = await controlPlane({ liveChain: () => live?.status() ?? null });
  acme = await newTenant(plane, "acme");
  const signingKey = generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  ledger = await openLedger({
    directory: journal,
    db: plane.database.db,
    durability: "relaxed",
    maxBytes: 10_000_000,
    shipWaitMs: 5,
    signingKey,
    clock,
    log: jsonLog("error"),
  });
  live = ledger;
  for (const tenant_id of ["acme", "beta", "acme"]) {
    const id = ulid();
    rowIds[tenant_id]?.push(id);
    await ledger.seal({
      id,
      tenant_id,
      timestamp: isoMicros(clock.micros()),
      proxy_type: "llm",
      endpoint: "/v1/x",
      http_status_code: 200,
      success: true,
      request_body_preview: `body of ${tenant_id}`,
      gateway_user_username: `user-of-${tenant_id}`,
    });
  }
  await ledger.shipped();
});
afterAll(async () => {
  await ledger.close();
  await plane.close();
  rmSync(journal, { recursive: true });
});

const query = (send: TenantWithAdmin["send"], body: object = {}) => send("POST", "/v1/admin/proxy-logs/query", body);
const idsOf = (rows: { id: string }[]) => rows.map((row) => row.id);

test("audit rows are found within their tenant only, newest first; an unknown filter is refused by name", async () => {
  expect(idsOf((await query(acme.send)).body.rows)).toEqual((rowIds.acme ?? []).toReversed());
  expect((await query(plane.system)).body.total).toBe(3);
  expect(idsOf((await query(plane.system, { tenant_id: "acme", order: "asc", page_size: 1 })).body.rows)).toEqual([rowIds.acme?.[0] ?? ""]);
  const wrong = await query(acme.send, { filters: { colour: "red" } });
  expect([wrong.status, wrong.body.fields[0].field]).toEqual([400, "filters.colour"]);
});

test("reading the bodies in audit rows needs a separate permission", async () => {
  const developer = await newTenant(plane, "acme", "developer");
  const withheld = (await query(developer.send)).body.rows[0];
  expect([withheld.request_body_preview, withheld.bodies_withheld]).toEqual([null, true]);
  const shown = (await query(acme.send)).body.rows[0];
  expect([shown.request_body_preview, shown.bodies_withheld]).toEqual(["body of acme", false]);
});

test("an audit chain is listed, verified and exported; a tenant's export omits other tenants' rows", async () => {
  const auditor = await newTenant(plane, "acme", "auditor");
  const { chains } = (await auditor.send("GET", "/v1/admin/audit/chains")).body;
  expect(chains).toMatchObject([{ chain_id: ledger.chainId, head_seq: 3 }]);
  const path = `/v1/admin/audit/chains/${ledger.chainId}`;
  for (const send of [auditor.send, plane.system]) {
    const verified = await send("POST", `${path}/verify`);
    expect([verified.status, verified.body.verdict, verified.body.findings]).toEqual([200, "intact", []]);
  }
  const exported = await auditor.send("GET", `${path}/export`);
  expect([exported.status, exported.headers.get("content-type")]).toEqual([200, "application/jsonl; charset=utf-8"]);
  const lines = String(exported.body)
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines.filter((line) => line.type === "row").map((line) => line.row.id)).toEqual(rowIds.acme ?? []);
  for (const id of rowIds.beta ?? []) expect(exported.body).not.toContain(id);
  expect((await plane.system("GET", `${path}/export`)).body).toContain(rowIds.beta?.[0] ?? "?");
  expect((await auditor.send("GET", "/v1/admin/audit/keys")).body.keys).toMatchObject([{ name: "gw.audit", valid_to: null }]);
  expect((await plane.system("GET", "/v1/admin/audit/chains/none/export")).status).toBe(404);
});

test.each(["audit/chains/{id}/export", "admin-log/export", "end-users/export/csv"])(
  "HEAD requests to %s leave no connection open",
  async (path) => {
    const token = (await plane.logIn(acme.admin.username, ADMIN_PASSWORD, "acme")).body.access_token;
    const url = `http://x/v1/admin/${path.replace("{id}", ledger.chainId)}`;
    for (let i = 0; i < 12; i++) {
      const answer = await plane.fetch(new Request(url, { method: "HEAD", headers: { authorization: `Bearer ${token}` } }));
      expect([answer.status, answer.body]).toEqual([200, null]);
    }
    expect((await acme.send("GET", "/v1/admin/resource-groups")).status).toBe(200);
  },
);

test("slow export readers of one tenant get 429 beyond their share, leaving connections for other requests", async () => {
  const { access_token: token } = (await plane.logIn(acme.admin.username, ADMIN_PASSWORD, "acme")).body;
  const ask = (path: string) =>
    plane.fetch(new Request(`http://x/v1/admin/${path}/export`, { headers: { authorization: `Bearer ${token}` } }));
  const slow = await Promise.all(Array.from({ length: 12 }, (_, i) => ask(i % 2 === 0 ? "admin-log" : `audit/chains/${ledger.chainId}`)));
  const refused = slow.filter(({ status }) => status === 429);
  expect([slow.length - refused.length, refused[0]?.headers.get("retry-after"), await refused[0]?.json()]).toMatchObject([
    2,
    "5",
    { code: "too_many_readings" },
  ]);
  expect((await acme.send("POST", `/v1/admin/audit/chains/${ledger.chainId}/verify`, {})).body.code).toBe("too_many_readings");
  expect((await plane.system("POST", `/v1/admin/audit/chains/${ledger.chainId}/verify`, {})).body.verdict).toBe("intact");
  expect((await acme.send("GET", "/v1/admin/resource-groups")).status).toBe(200);
  for (const { status, body } of slow) if (status === 200) await body?.cancel();
  expect((await acme.send("POST", `/v1/admin/audit/chains/${ledger.chainId}/verify`, {})).body.verdict).toBe("intact");
});

test("a deleted tenant's ID cannot be reused while audit rows of that tenant exist", async () => {
  const make = (id: string) => plane.system("POST", "/v1/admin/tenants", { id, name: id });
  for (const id of ["beta", "unused"]) {
    expect((await make(id)).status).toBe(201);
    expect((await plane.system("DELETE", `/v1/admin/tenants/${id}`)).status).toBe(204);
  }
  const taken = await make("beta");
  expect([taken.status, taken.body.code]).toEqual([409, "conflict"]);
  expect((await make("unused")).status).toBe(201);
  expect((await query(plane.system, { filters: { tenant_id: "beta" } })).body.total).toBe(1);
});

test("a system administrator can erase a person from the audit rows of a deleted tenant", async () => {
  const path = "/v1/admin/data-erasure?tenant_id=beta";
  const body = { subject: { gateway_user_username: "user-of-beta" } };
  const erased = await plane.system("POST", path, body);
  expect([erased.status, erased.body]).toMatchObject([201, { tenant_id: "beta", rows_erased: 1, account_erased: false }]);
  expect((await plane.system("GET", path)).body).toMatchObject({ total: 1, erasures: [{ id: erased.body.id }] });
  expect((await plane.system("POST", "/v1/admin/data-erasure?tenant_id=never-there", body)).status).toBe(404);
  expect((await acme.send("POST", path, body)).status).toBe(403);
  expect((await plane.system("GET", "/v1/admin/resource-groups?tenant_id=beta")).status).toBe(404);
});

test("a tenant created with a deleted tenant's ID sees no admin log entries, erasures or usage of the old one", async () => {
  const former = await newTenant(plane, "again");
  const adminId = (await former.send("GET", "/v1/admin-users/me")).body.id;
  expect((await former.send("POST", "/v1/admin/data-erasure", { subject: { idp_user_id: "x" } })).status).toBe(201);
  await sql`INSERT INTO usage_hourly (tenant_id, hour, resource_group_id, llm_model_used, api_key_id, requests, errors, prompt_tokens, completion_tokens, cost_micro_usd, unpriced_requests) VALUES ('again', now(), '', '', '', 7, 0, 0, 0, 0, 0)`.execute(
    plane.database.db,
  );
  expect((await plane.system("GET", "/v1/admin/tenants/again/stats")).body.last_30_days.requests).toBe(7);
  expect((await plane.system("DELETE", `/v1/admin/admin-users/${adminId}`)).status).toBe(204);
  expect((await plane.system("DELETE", "/v1/admin/tenants/again")).status).toBe(204);

  const heir = await newTenant(plane, "again");
  const { entries, total } = (await heir.send("GET", "/v1/admin/admin-log")).body;
  expect(entries.map((entry: any) => `${entry.action} ${entry.resource}`)).toEqual([
    "login admin-users",
    "create admin-users",
    "create tenants",
  ]);
  expect(total).toBe(3);
  const exported = String((await heir.send("GET", "/v1/admin/admin-log/export")).body)
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  expect(
    exported
      .filter((line) => line.type === "entry")
      .map((line) => line.entry.id)
      .sort(),
  ).toEqual(entries.map(({ id }: { id: string }) => id).sort());
  expect((await heir.send("POST", "/v1/admin/admin-log/verify")).body).toMatchObject({ findings: [], rows_withheld: expect.any(Number) });
  expect((await heir.send("GET", "/v1/admin/data-erasure")).body).toMatchObject({ erasures: [], total: 0 });
  expect((await plane.system("GET", "/v1/admin/tenants/again/stats")).body.last_30_days.requests).toBe(0);
  // A system administrator still finds the old tenant's entries.
  const all = (await plane.system("GET", `/v1/admin/admin-log?resource=admin-users&resource_id=${adminId}`)).body.entries;
  expect(all.map(({ action }: { action: string }) => action)).toContain("delete");
});

test("verifying a chain reports a row that was altered directly in the database", async () => {
  await plane.database.db
    .updateTable("audit_rows")
    .set({ http_status_code: 500 })
    .where("id", "=", rowIds.acme?.[1] ?? "")
    .execute();
  const verified = await plane.system("POST", `/v1/admin/audit/chains/${ledger.chainId}/verify`, {});
  expect(verified.body).toMatchObject({ verdict: "altered", findings: [{ chain_seq: 3, row_id: rowIds.acme?.[1] }] });
});
