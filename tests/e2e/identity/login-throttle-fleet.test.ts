import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { testDatabase, type TestDatabase } from "../../support/database.ts";
import { ADMIN_PASSWORD, type GatewayProcess, removeDirectory, startGateway } from "../../support/gateway.ts";
import { haveValkey, startValkey, type TestValkey } from "../../support/processes/valkey.ts";
import { newPerson, PASSWORD } from "../../support/worlds/portal.ts";

/** Two machines of a fleet with Valkey count failed sign-ins together, and what clients do without signing in. */

const gateways: GatewayProcess[] = [];
let database: TestDatabase;
let valkey: TestValkey;

if (haveValkey) {
  beforeAll(async () => {
    [database, valkey] = await Promise.all([testDatabase(), startValkey()]);
    const env = { VALKEY_URL: valkey.url, GW_SECRET_KEY: Buffer.alloc(32, 7).toString("base64"), GW_JWT_SECRET: "j".repeat(40) };
    // One after the other, because the first makes the administrator. The second machine has two processes.
    for (const processes of ["1", "2"])
      gateways.push(await startGateway({ databaseUrl: database.url, env: { ...env, GW_PROCESSES: processes } }));
    await newPerson((gateways[0] as GatewayProcess).runtimeUrl, "ada");
  });
  afterAll(async () => {
    for (const gateway of gateways) {
      await gateway.stop();
      await removeDirectory(gateway.dataDir);
    }
    await valkey.stop();
    await database.close();
  });

  describe.each([
    {
      plane: "portal",
      address: ({ runtimeUrl }: GatewayProcess) => `${runtimeUrl}/v1/portal/auth/login`,
      username: "ada",
      right: PASSWORD,
    },
    {
      plane: "console",
      address: ({ adminUrl }: GatewayProcess) => `${adminUrl}/v1/admin-users/system/login`,
      username: "admin",
      right: ADMIN_PASSWORD,
    },
  ])("at the $plane", ({ address, username, right }) => {
    test("guesses spread over the machines are refused on both after the fifth", async () => {
      const logIn = async (at: number, password: string) => {
        const headers = { "content-type": "application/json" };
        const body = JSON.stringify({ username, password });
        return (await fetch(address(gateways[at] as GatewayProcess), { method: "POST", headers, body })).status;
      };
      const guesses = [];
      for (const at of [0, 1, 0, 1, 0]) guesses.push(await logIn(at, "wrong"));
      expect(guesses).toEqual([401, 401, 401, 401, 401]);
      expect([await logIn(1, right), await logIn(0, right)]).toEqual([429, 429]);
    });
  });

  test("registrations spread over the machines are refused on both after the sixtieth", async () => {
    const register = async (at: number) => {
      const headers = { "content-type": "application/json", "x-tenant-id": "none-such" };
      const body = JSON.stringify({ username: "grace", password: PASSWORD });
      return (await fetch(`${(gateways[at] as GatewayProcess).runtimeUrl}/v1/portal/auth/register`, { method: "POST", headers, body }))
        .status;
    };
    const answers = [];
    // With that of the person who signs in above these are sixty.
    for (let i = 1; i < 60; i++) answers.push(await register(i % 2));
    expect(new Set(answers)).toEqual(new Set([403]));
    expect([await register(0), await register(1), await register(1)]).toEqual([429, 429, 429]);
  });

  test.each(["portal", "console"])(
    "sign-ins begun at the %s and spread over the machines are refused on both after the 600th",
    async (plane) => {
      const begin = async (at: number) => {
        const { runtimeUrl, adminUrl } = gateways[at] as GatewayProcess;
        const base = plane === "portal" ? `${runtimeUrl}/v1/portal/auth` : `${adminUrl}/v1/admin-users`;
        return (await fetch(`${base}/sso/${crypto.randomUUID()}/start`, { redirect: "manual" })).status;
      };
      const answers = await Promise.all(Array.from({ length: 600 }, (_, i) => begin(i % 2)));
      expect(new Set(answers)).toEqual(new Set([404]));
      expect([await begin(0), await begin(1), await begin(1)]).toEqual([429, 429, 429]);
    },
  );
}
