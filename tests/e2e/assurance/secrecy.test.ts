import { expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { serveModels, signIn } from "../../support/worlds/admin.ts";
import { testDatabase } from "../../support/database.ts";
import { startFakeUpstream } from "../../support/vendors/fake-upstream.ts";
import { ADMIN_PASSWORD, removeDirectory, startGateway } from "../../support/gateway.ts";

function filesBelow(directory: string): string[] {
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name);
    return statSync(path).isDirectory() ? filesBelow(path) : [path];
  });
}

test("no provider key, API key, password or token is found in the database, journal, logs or metrics after use", async () => {
  const database = await testDatabase();
  const upstream = startFakeUpstream();
  const gateway = await startGateway({ databaseUrl: database.url, env: { GW_LOG_LEVEL: "debug" } });
  const admin = await signIn(gateway.adminUrl);
  const providerKey = "sk-upstream-secret-zyxw9876543210";
  const served = await serveModels(admin, upstream.baseUrl, ["fake-1", "bad-key", "broken"], { apiKey: providerKey });
  const otherPassword = "a password of somebody else";
  await admin.post("/v1/admin/admin-users", { tenant_id: "default", username: "other", password: otherPassword, role: "viewer" });
  await signIn(gateway.adminUrl, { username: "other", password: "a wrong password" }, "tenant").catch(() => undefined);
  const rotated = await admin.post(`/v1/admin/api-keys/${served.apiKeyId}/rotate`, { grace_seconds: 60 });

  const call = (headers: Record<string, string>, model: string, query = "") =>
    fetch(`${gateway.runtimeUrl}/v1/proxy/llm/chat/completions${query}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ model, messages: [{ role: "user", content: "x" }] }),
    }).then((response) => response.text());
  for (const model of ["fake-1", "bad-key", "broken", "nothing"]) {
    await call({ authorization: `Bearer ${served.apiKey}` }, model);
    await call(
      { "x-api-key": rotated.key_value, "x-other": `see ${rotated.key_value}`, "x-custom-token": "tok", cookie: "session=1" },
      model,
    );
    await call({ "api-key": served.apiKey }, model, `?key=${served.apiKey}`);
  }
  const metrics = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
  const token = admin.token;
  const output = gateway.output();
  const printedOnce = /sk_gw_api_[\w-]{43}/.exec(output)?.[0] ?? "";
  expect(await gateway.stop()).toBe(0);

  const { rows: tables } = await sql<{
    name: string;
  }>`SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`.execute(database.db);
  const places = new Map<string, string>([
    ["metrics", metrics],
    ["log", output.replaceAll(printedOnce, "")],
  ]);
  for (const { name } of tables) {
    const { rows } = await sql`SELECT * FROM ${sql.table(name)}`.execute(database.db);
    places.set(`table ${name}`, JSON.stringify(rows));
  }
  for (const path of filesBelow(join(gateway.dataDir, "journal"))) places.set(path, readFileSync(path, "latin1"));
  expect(places.get("table audit_rows")?.length).toBeGreaterThan(1_000);

  const secrets = {
    "provider key": providerKey,
    "API key": served.apiKey,
    "rotated API key": rotated.key_value as string,
    "first API key": printedOnce,
    "admin password": ADMIN_PASSWORD,
    "other password": otherPassword,
    "wrong password": "a wrong password",
    "admin token": token,
  };
  const found = [...places].flatMap(([place, text]) =>
    Object.entries(secrets)
      .filter(([, secret]) => text.includes(secret))
      .map(([name]) => `${name} in ${place}`),
  );
  expect(found).toEqual([]);
  await upstream.stop();
  await database.close();
  await removeDirectory(gateway.dataDir);
});
