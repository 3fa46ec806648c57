import { cp, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "bun:test";
import { serveModels, signIn } from "../support/worlds/admin.ts";
import { startBalancer } from "../support/processes/balancer.ts";
import { testDatabase } from "../support/database.ts";
import { startFakeUpstream } from "../support/vendors/fake-upstream.ts";
import { type GatewayProcess, removeDirectory, startGateway, temporaryDirectory } from "../support/gateway.ts";
import { servedBy } from "../support/until.ts";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
const CALLERS = 4;
const CALLS_IN_EACH_STATE = 100;

/** What a release may add while the previous one runs: nullable columns, tables, indexes. */
const MIGRATION = `
ALTER TABLE audit_rows ADD COLUMN of_the_next_release text;
ALTER TABLE api_keys ADD COLUMN of_the_next_release text NOT NULL DEFAULT 'as before';
CREATE TABLE next_release_things (tenant_id text NOT NULL, id text NOT NULL, PRIMARY KEY (tenant_id, id));
CREATE INDEX ON api_keys (of_the_next_release);
`;

/** This release plus one migration. */
async function nextRelease(): Promise<string> {
  const folder = await temporaryDirectory();
  for (const part of ["bin", "server", "packages"]) await cp(join(PROJECT, part), join(folder, part), { recursive: true });
  for (const part of ["package.json", "node_modules", "web"]) await symlink(join(PROJECT, part), join(folder, part));
  await mkdir(join(folder, "server/store/migrations"), { recursive: true });
  await writeFile(join(folder, "server/store/migrations/9999_next_release.sql"), MIGRATION);
  return folder;
}

test("a rolling upgrade with a migration refuses no call and loses no row, and the old release works until replaced", async () => {
  const next = await nextRelease();
  const database = await testDatabase();
  const upstream = startFakeUpstream();
  const balancer = await startBalancer();
  const env = { GW_DRAIN_NOTICE_SECONDS: "2", GW_SECRET_KEY: Buffer.alloc(32, 5).toString("base64"), GW_JWT_SECRET: "x".repeat(32) };
  const started = async (from: string, dataDir?: string): Promise<GatewayProcess> => {
    const command = ["node", join(from, "bin/gatehouse.mjs"), "start"] as const;
    const gateway = await startGateway({ databaseUrl: database.url, env, command, ...(dataDir === undefined ? {} : { dataDir }) });
    balancer.add(gateway.runtimeUrl);
    await balancer.ready(gateway.runtimeUrl);
    return gateway;
  };
  const fleet = [await started(PROJECT), await started(PROJECT)] as [GatewayProcess, GatewayProcess];
  const replace = async (index: 0 | 1) => {
    const old = fleet[index];
    expect(await old.stop()).toBe(0);
    balancer.remove(old.runtimeUrl);
    fleet[index] = await started(next, old.dataDir);
  };
  const served = await serveModels(await signIn(fleet[0].adminUrl), upstream.baseUrl, ["fake-1"]);
  await servedBy(fleet, "fake-1", served.apiKey);

  const answers = new Map<string, number>();
  const ids: string[] = [];
  let calling = true;
  const caller = async () => {
    while (calling) {
      const answer = await fetch(`${balancer.url}/v1/proxy/llm/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-api-key": served.apiKey },
        body: JSON.stringify({ model: "fake-1", messages: [{ role: "user", content: "x" }] }),
      })
        .then(async (reply) => {
          const text = await reply.text();
          ids.push(reply.headers.get("x-request-id") ?? "none");
          return reply.ok ? "served" : `${reply.status} ${text}`;
        })
        .catch((error: Error) => error.message);
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const callers = Array.from({ length: CALLERS }, caller);
  const moreCalls = async () => {
    const until = ids.length + CALLS_IN_EACH_STATE;
    while (ids.length < until) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  await moreCalls();
  await replace(0);
  await moreCalls();

  // With both releases on the new schema, each can read what the other writes, and a key works at both.
  for (const [index, { adminUrl, runtimeUrl }] of fleet.entries()) {
    const admin = await signIn(adminUrl);
    const name = `made in between by ${index}`;
    const { key_value } = await admin.post(`/v1/admin/resource-groups/${served.groupId}/api-keys`, { name, access_mode: "shared" });
    for (const url of [runtimeUrl, fleet[1 - index]?.runtimeUrl]) {
      const models = await fetch(`${url}/v1/proxy/llm/models`, { headers: { "x-api-key": key_value } });
      expect([index, models.status]).toEqual([index, 200]);
    }
  }
  // The previous release refuses to start on the new schema, and says why.
  const dataDir = await temporaryDirectory();
  const late = await startGateway({ databaseUrl: database.url, env, dataDir }).then(
    () => "started",
    (error: Error) => error.message,
  );
  expect(late).toContain("the database was migrated by a newer release (it has 9999_next_release.sql)");

  await replace(1);
  await moreCalls();
  calling = false;
  await Promise.all(callers);
  expect([...answers.keys()]).toEqual(["served"]);

  const admin = await signIn(fleet[0].adminUrl);
  const found = new Map<string, number>();
  const missing = () => ids.filter((id) => !found.has(id));
  do {
    found.clear();
    for (let page = 1; ; page++) {
      const { rows } = await admin.post("/v1/admin/proxy-logs/query", {
        filters: { proxy_subtype: "chat_completions" },
        page,
        page_size: 200,
      });
      for (const { id } of rows) found.set(id, (found.get(id) ?? 0) + 1);
      if (rows.length < 200) break;
    }
  } while (missing().length > 0);
  expect([...found.values()].filter((rows) => rows !== 1)).toEqual([]);
  const { chains } = await admin.get("/v1/admin/audit/chains");
  for (const { chain_id } of chains)
    expect(await admin.post(`/v1/admin/audit/chains/${chain_id}/verify`, {})).toMatchObject({ verdict: "intact" });

  await balancer.close();
  for (const gateway of fleet) {
    await gateway.stop();
    await removeDirectory(gateway.dataDir);
  }
  await upstream.stop();
  await database.close();
  await removeDirectory(dataDir);
  await removeDirectory(next);
});
