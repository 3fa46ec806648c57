import { afterAll, beforeAll, expect, test } from "bun:test";
import { compose, type Gateway } from "../../server/compose.ts";
import { readConfiguration } from "../../server/kernel/configuration.ts";
import { jsonLog } from "../../server/kernel/log.ts";
import { serveModels, signIn } from "../support/admin.ts";
import { testDatabase } from "../support/database.ts";
import { startFakeUpstream } from "../support/fake-upstream.ts";
import { ADMIN_PASSWORD, removeDirectory, temporaryDirectory } from "../support/gateway.ts";
import { newPerson } from "../support/portal.ts";

const statements: string[] = [];
let gateway: Gateway;
let dataDir: string;
let closeDatabase: () => Promise<void>;

beforeAll(async () => {
  const database = await testDatabase();
  closeDatabase = database.close;
  dataDir = await temporaryDirectory();
  const env = { GW_RUNTIME_PORT: "0", GW_ADMIN_PORT: "0", GW_DATA_DIR: dataDir, DATABASE_URL: database.url, GW_BOOTSTRAP_ADMIN_PASSWORD: ADMIN_PASSWORD };
  gateway = await compose(readConfiguration(env), env, jsonLog("error"), { onQuery: (sql) => statements.push(sql) });
}, 30_000);

afterAll(async () => {
  await gateway.stop();
  await closeDatabase();
  await removeDirectory(dataDir);
});

/** What runs beside the calls and would run without them: following configuration, shipping the ledger, hearing of erasures, expiring approvals. */
const BESIDE = /config_changes|config_version|audit_|usage_hourly|count\(\*\) AS total FROM data_erasures|^update "approvals" set "status"|^(begin|commit|rollback|set )/i;

test("a call in steady state reads no database", async () => {
  const upstream = startFakeUpstream();
  const served = await serveModels(await signIn(gateway.adminUrl), upstream.baseUrl, ["fake-1"]);
  const person = await newPerson(gateway.runtimeUrl as string, "steady");
  await (await signIn(gateway.adminUrl)).request("PATCH", `/v1/admin/end-users/${person.id}/primary-group`, { group_id: served.groupId });
  const call = async (model: string, stream: boolean, credential: Record<string, string> = { "x-api-key": served.apiKey }) => {
    const response = await fetch(`${gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, { method: "POST", headers: { "content-type": "application/json", ...credential }, body: JSON.stringify({ model, stream, messages: [{ role: "user", content: "x" }] }) });
    await response.text();
    return response.status;
  };
  expect(await call("fake-1", false)).toBe(200);
  const token = { authorization: `Bearer ${person.token}` };
  expect(await call("fake-1", false, token)).toBe(200);

  statements.length = 0;
  for (let i = 0; i < 100; i++) {
    expect(await call("fake-1", i % 2 === 0)).toBe(200);
    expect(await call("fake-1", i % 2 === 0, token)).toBe(200);
    expect(await call("not-there", false)).toBe(404);
    expect((await fetch(`${gateway.runtimeUrl}/v1/proxy/llm/models`, { headers: { "x-api-key": served.apiKey } })).status).toBe(200);
    // The same wrong key again and again is remembered as wrong.
    if (i > 0) expect((await fetch(`${gateway.runtimeUrl}/v1/proxy/llm/models`, { headers: { "x-api-key": `sk_gw_api_${"w".repeat(43)}` } })).status).toBe(401);
    else {
      await fetch(`${gateway.runtimeUrl}/v1/proxy/llm/models`, { headers: { "x-api-key": `sk_gw_api_${"w".repeat(43)}` } });
      statements.length = 0;
    }
  }
  expect(statements.filter((sql) => !BESIDE.test(sql))).toEqual([]);
  await upstream.stop();
});
