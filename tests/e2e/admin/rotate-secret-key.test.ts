import { expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { sql } from "kysely";
import { removeDirectory, startGateway, temporaryDirectory } from "../../support/gateway.ts";
import { testDatabase } from "../../support/database.ts";
import { totpCode } from "../../support/identity/totp.ts";
import { startFakeUpstream } from "../../support/vendors/fake-upstream.ts";
import { serveModels, signIn } from "../../support/worlds/admin.ts";
import { newPerson, PASSWORD, portalClient } from "../../support/worlds/portal.ts";

const LAUNCHER = fileURLToPath(new URL("../../../bin/gatehouse.mjs", import.meta.url));

/** The command as an operator runs it. */
async function gatehouse(command: string, env: Record<string, string>): Promise<{ code: number | null; text: string }> {
  const child = spawn("node", [LAUNCHER, command], { env: { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "", ...env } });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece: Buffer) => (text += piece.toString()));
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, text })));
}

test("a fleet gets a new secret key without a failed call, and nothing has to be stored again", async () => {
  const upstream = startFakeUpstream();
  const [database, ...dirs] = await Promise.all([testDatabase(), temporaryDirectory(), temporaryDirectory()]);
  const [a, b] = [randomBytes(32), randomBytes(32)].map((key) => key.toString("base64")) as [string, string];
  const shared = { GW_JWT_SECRET: "a secret of portal tokens, for both", GW_QUICKSTART: "off" };
  const start = (at: number, env: Record<string, string>) =>
    startGateway({ databaseUrl: database.url, dataDir: dirs[at] as string, env: { ...shared, ...env } });
  const settings = (env: Record<string, string>) => ({ DATABASE_URL: database.url, GW_DATA_DIR: dirs[0] as string, ...env });

  // The first restart: every process also knows the next key.
  const first = await start(0, { GW_SECRET_KEY: a, GW_SECRET_KEY_NEXT: b });
  const admin = await signIn(first.adminUrl);
  const served = await serveModels(admin, upstream.baseUrl, ["keyed", { name: "own", api_key: "sk-of-the-model-1" }]);
  const engine = { provider: "webhook", endpoint: "https://engine.example/check", api_key: "of-the-engine" };
  await admin.post("/v1/admin/guardrails/configs", {
    ...{ tenant_id: "default", name: "engine", enabled: false, surfaces: {}, builtin: {}, providers: [engine] },
  });
  const person = await newPerson(first.runtimeUrl, "zoe");
  const { secret } = (await person.request("POST", "/auth/2fa/setup")).body;
  const step = Math.floor(Date.now() / 30_000);
  expect((await person.request("POST", "/auth/2fa/verify", { code: totpCode(secret, step - 1) })).status).toBe(200);

  // The second: a process with the new key beside one with the old key.
  const second = await start(1, { GW_SECRET_KEY: b, GW_SECRET_KEY_PREVIOUS: a });
  const call = async (runtimeUrl: string, model: string) => {
    const response = await fetch(`${runtimeUrl}/v1/proxy/llm/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": served.apiKey, "x-gw-run-id": "one-run" },
      body: JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }] }),
    });
    return `${response.status} ${upstream.seen.at(-1)?.headers["authorization"]}`;
  };
  const everywhere = async () => [
    ...[await call(first.runtimeUrl, "keyed"), await call(second.runtimeUrl, "keyed")],
    ...[await call(first.runtimeUrl, "own"), await call(second.runtimeUrl, "own")],
  ];
  const provider = "200 Bearer sk-upstream-secret-0001";
  const model = "200 Bearer sk-of-the-model-1";
  expect(await everywhere()).toEqual([provider, provider, model, model]);
  // Each accepts the tokens of the other, and reads what the other encrypted.
  const statusOf = async (adminUrl: string, token: string) =>
    (await fetch(`${adminUrl}/v1/admin-users/me`, { headers: { authorization: `Bearer ${token}` } })).status;
  const later = await signIn(second.adminUrl);
  expect([await statusOf(second.adminUrl, admin.token), await statusOf(first.adminUrl, later.token)]).toEqual([200, 200]);
  const { providers } = await later.get("/v1/admin/providers?tenant_id=default");
  const { id } = providers.find((one: { provider_key: string }) => one.provider_key === "fake");
  expect((await later.request("PATCH", `/v1/admin/providers/${id}`, { api_key: "sk-upstream-secret-0002" })).status).toBe(200);

  const keys = settings({ GW_SECRET_KEY: b, GW_SECRET_KEY_PREVIOUS: a });
  const before = await gatehouse("doctor", keys);
  expect(before.text).toMatch(/^warning +secret key .*under another key 1 keys of models.*run gatehouse rotate-secret-key$/m);
  const rotated = await gatehouse("rotate-secret-key", keys);
  expect(rotated).toEqual({ code: 0, text: expect.stringContaining("Nothing is under the previous key any more.") });
  expect(rotated.text).toMatch(/^encrypted again +1 {2}keys of models$/m);
  expect(rotated.text).toMatch(/^encrypted again +1 {2}second factors of end users$/m);
  expect(rotated.text).toMatch(/^encrypted again +1 {2}keys of guardrail engines$/m);
  const again = await gatehouse("rotate-secret-key", keys);
  expect([again.code, again.text.includes("encrypted again")]).toEqual([0, false]);
  const replaced = "200 Bearer sk-upstream-secret-0002";
  expect(await everywhere()).toEqual([replaced, replaced, model, model]);
  const { entries } = await later.get("/v1/admin/admin-log?resource=secret-key");
  expect(entries).toHaveLength(1);
  expect(entries[0]).toMatchObject({ action: "rotate", after: { under_previous_key: { "keys of models": 1 } } });

  // The third: only the new key.
  await first.stop();
  await second.stop();
  const third = await start(0, { GW_SECRET_KEY: b });
  expect(third.output()).not.toContain("stored_keys_unreadable");
  expect([await call(third.runtimeUrl, "keyed"), await call(third.runtimeUrl, "own")]).toEqual([replaced, model]);
  const stranger = portalClient(third.runtimeUrl);
  const { temp_token: owed } = (await stranger.request("POST", "/auth/login", { username: "zoe", password: PASSWORD })).body;
  const code = totpCode(secret, Math.floor(Date.now() / 30_000));
  expect((await stranger.request("POST", "/auth/login/2fa", { temp_token: owed, code })).status).toBe(200);
  // Whoever has the previous key can make no token that is accepted.
  expect([await statusOf(third.adminUrl, admin.token), await statusOf(third.adminUrl, later.token)]).toEqual([401, 200]);
  expect((await gatehouse("doctor", settings({ GW_SECRET_KEY: b }))).text).toMatch(/^ok +secret key +opens \d+ stored secret\(s\)/m);
  await third.stop();
  // The run that all of these calls named is one run under both keys.
  const { rows } = await sql<{ runs: number; calls: number }>`
    SELECT count(DISTINCT root_task_id)::int AS runs, count(*)::int AS calls FROM audit_rows WHERE llm_model_requested IN ('keyed', 'own')`.execute(
    database.db,
  );
  expect(rows).toEqual([{ runs: 1, calls: 10 }]);
  await database.close();
  for (const directory of dirs) await removeDirectory(directory);
  await upstream.stop();
});

test("the command says which settings it lacks", async () => {
  const dataDir = await temporaryDirectory();
  const key = randomBytes(32).toString("base64");
  const run = (env: Record<string, string>) => gatehouse("rotate-secret-key", { GW_DATA_DIR: dataDir, ...env });
  expect(await run({})).toEqual({ code: 3, text: expect.stringContaining("give the new one as GW_SECRET_KEY") });
  expect(await run({ GW_SECRET_KEY: key })).toEqual({ code: 3, text: expect.stringContaining("as GW_SECRET_KEY_PREVIOUS") });
  const same = await run({ GW_SECRET_KEY: key, GW_SECRET_KEY_PREVIOUS: key });
  expect(same).toEqual({ code: 3, text: expect.stringContaining("are the same: GW_SECRET_KEY must be the new key") });
  const short = await run({ GW_SECRET_KEY: key, GW_SECRET_KEY_PREVIOUS: "c2hvcnQ=" });
  expect(short).toEqual({ code: 3, text: expect.stringContaining("GW_SECRET_KEY_PREVIOUS") });
  expect(short.text).not.toContain("c2hvcnQ");
  await removeDirectory(dataDir);
});
