import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { doctorCommand } from "../../../server/cli/doctor.ts";
import { serveModels, signIn } from "../../support/worlds/admin.ts";
import { testDatabase } from "../../support/database.ts";
import { startFakeUpstream } from "../../support/vendors/fake-upstream.ts";
import { removeDirectory, startGateway, temporaryDirectory } from "../../support/gateway.ts";
import { newPerson, PASSWORD, portalClient } from "../../support/worlds/portal.ts";
import { startSigningIssuer } from "../../support/identity/signing-issuer.ts";
import { totpCode } from "../../support/identity/totp.ts";

async function findings(dataDir: string, databaseUrl: string, secretKey?: string): Promise<string> {
  let printed = "";
  await doctorCommand(
    [],
    { GW_DATA_DIR: dataDir, DATABASE_URL: databaseUrl, ...(secretKey === undefined ? {} : { GW_SECRET_KEY: secretKey }) },
    { stdout: (text) => void (printed += text), stderr: () => undefined },
  );
  return printed;
}

test("with another secret key, calls go on without the unreadable stored keys, which are reported and can be replaced", async () => {
  const upstream = startFakeUpstream();
  const database = await testDatabase();
  const dataDir = await temporaryDirectory();
  const first = await startGateway({ databaseUrl: database.url, dataDir });
  const before = await signIn(first.adminUrl);
  const served = await serveModels(before, upstream.baseUrl, ["keyed", { name: "own", api_key: "sk-of-the-model-1" }]);
  const billed = (await before.get("/v1/admin/providers?tenant_id=default")).providers.find((one: any) => one.provider_key === "fake").id;
  const imports = `/v1/admin/usage-import/providers/${billed}`;
  expect((await before.request("PATCH", imports, { import_enabled: true, import_endpoint_override: "https://usage.example" })).status).toBe(
    200,
  );
  expect(await findings(dataDir, database.url)).toContain(`1 of 1 import(s) that are switched on have no key, that of provider ${billed}`);
  expect((await before.request("PATCH", imports, { api_key: "sk-admin-of-the-account", import_enabled: true })).status).toBe(200);
  const quickStartKey = /sk_gw_api_[\w-]{43}/.exec(first.output())?.[0] ?? "";
  const person = await newPerson(first.runtimeUrl, "zoe");
  const { secret, backup_codes: backupCodes } = (await person.request("POST", "/auth/2fa/setup")).body;
  const step = Math.floor(Date.now() / 30_000);
  expect((await person.request("POST", "/auth/2fa/verify", { code: totpCode(secret, step - 1) })).status).toBe(200);
  await first.stop();
  expect(await findings(dataDir, database.url)).toMatch(/^ok +secret key +opens 4 stored secret/m);
  expect(await findings(dataDir, database.url)).toMatch(/^ok +usage import +1 import\(s\) switched on, each with a key/m);

  const otherDir = await temporaryDirectory();
  const again = await startGateway({
    databaseUrl: database.url,
    dataDir: otherDir,
    env: { GW_SECRET_KEY: randomBytes(32).toString("base64") },
  });
  const call = async (key: string, model: string) => {
    const response = await fetch(`${again.runtimeUrl}/v1/proxy/llm/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": key },
      body: JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }] }),
    });
    return { status: response.status, shown: upstream.seen.at(-1)?.headers["authorization"] };
  };
  expect(again.output()).toContain('"event":"stored_keys_unreadable","keys":4');
  expect((await call(quickStartKey, "echo")).status).toBe(200);
  expect(await call(served.apiKey, "keyed")).toEqual({ status: 200, shown: undefined });
  expect(await call(served.apiKey, "own")).toEqual({ status: 200, shown: undefined });

  const stranger = portalClient(again.runtimeUrl);
  const { temp_token: owed } = (await stranger.request("POST", "/auth/login", { username: "zoe", password: PASSWORD })).body;
  const withCode = async (code: string) => (await stranger.request("POST", "/auth/login/2fa", { temp_token: owed, code })).status;
  expect([await withCode(totpCode(secret, Math.floor(Date.now() / 30_000))), await withCode(backupCodes[0])]).toEqual([401, 200]);

  const admin = await signIn(again.adminUrl);
  const { providers } = await admin.get("/v1/admin/providers?tenant_id=default");
  const { id } = providers.find((one: { provider_key: string }) => one.provider_key === "fake");
  expect((await admin.request("PATCH", `/v1/admin/providers/${id}`, { api_key: "sk-stored-again-1" })).status).toBe(200);
  expect(await call(served.apiKey, "keyed")).toEqual({ status: 200, shown: "Bearer sk-stored-again-1" });
  expect(again.output()).toContain(
    `"event":"stored_keys_unreadable","tenant_id":"default","keys":1,"first":"models.api_key:${served.models["own"]}"`,
  );
  await again.stop();
  expect(await findings(dataDir, database.url)).toMatch(
    /^wrong +secret key +opens 3 of 4 stored secrets, not 1 keys of providers, first that of providers /m,
  );

  await database.close();
  for (const directory of [dataDir, otherDir]) await removeDirectory(directory);
  await upstream.stop();
});

test("with another secret key, sign-in by an identity provider is refused for that reason, and works again with the right key", async () => {
  const [database, dataDir, issuer] = await Promise.all([testDatabase(), temporaryDirectory(), startSigningIssuer()]);
  const keys = [randomBytes(32), randomBytes(32)].map((key) => key.toString("base64")) as [string, string];
  const withKey = (key: string) => startGateway({ databaseUrl: database.url, dataDir, env: { GW_SECRET_KEY: key } });
  const first = await withKey(keys[0]);
  const admin = await signIn(first.adminUrl);
  const { id } = await admin.post("/v1/admin/identity-providers", {
    ...{ tenant_id: "default", kind: "oidc", audience: "portal", name: "Company", client_secret: "of the client" },
    oidc: { issuer: issuer.issuer, client_id: "gatehouse" },
  });
  const { id: base } = await admin.post("/v1/admin/knowledgebases", { tenant_id: "default", name: "docs" });
  await admin.post("/v1/admin/kb-connectors", {
    ...{ tenant_id: "default", name: "repository", knowledge_base_id: base, connector_type: "git", enabled: false },
    ...{ location: "https://git.example/docs.git", credential: "reader:secret" },
  });
  await first.stop();

  const other = await withKey(keys[1]);
  expect(await findings(dataDir, database.url, keys[1])).toContain(`first that of identity_providers ${id}`);
  const { address } = await (await signIn(other.adminUrl)).post(`/v1/admin/identity-providers/${id}/test`, {});
  const refused = await fetch(address, { redirect: "manual" });
  expect([refused.status, await refused.text()]).toEqual([
    403,
    expect.stringContaining("its client secret was stored under another GW_SECRET_KEY: store it again"),
  ]);
  expect(issuer.asked).toEqual([]);
  await other.stop();

  const again = await withKey(keys[0]);
  expect(await findings(dataDir, database.url, keys[0])).toMatch(/^ok +secret key +opens 2 stored secret/m);
  const { address: then } = await (await signIn(again.adminUrl)).post(`/v1/admin/identity-providers/${id}/test`, {});
  expect((await fetch(then, { redirect: "manual" })).status).toBe(302);
  await again.stop();
  await issuer.stop();
  await database.close();
  await removeDirectory(dataDir);
});
