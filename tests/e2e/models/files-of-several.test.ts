import { afterAll, beforeAll, expect, test } from "bun:test";
import { signIn } from "../../support/worlds/admin.ts";
import { testDatabase, type TestDatabase } from "../../support/database.ts";
import { type GatewayProcess, removeDirectory, startGateway } from "../../support/gateway.ts";
import { nothingStored, storedBytes } from "../../support/records/stored-bytes.ts";
import { until } from "../../support/until.ts";
import { newTeam, type Team } from "../tools/mcp-harness.ts";

/** Two gateways on one database without shared object storage. */

let database: TestDatabase;
let gateways: [GatewayProcess, GatewayProcess];
let team: Team;

beforeAll(async () => {
  database = await testDatabase();
  const env = { GW_SECRET_KEY: Buffer.alloc(32, 3).toString("base64"), GW_JWT_SECRET: "the same secret for both of the processes" };
  const start = () => startGateway({ databaseUrl: database.url, env });
  gateways = [await start(), await start()];
  team = await newTeam(await signIn(gateways[0].adminUrl), "archive");
});
afterAll(async () => {
  for (const gateway of gateways) await gateway.stop();
  await database.close();
  for (const { dataDir } of gateways) await removeDirectory(dataDir);
});

const ask = (gateway: GatewayProcess, path: string, init: RequestInit = {}) =>
  fetch(`${gateway.runtimeUrl}/v1/proxy/files${path}`, { ...init, headers: { "x-api-key": team.apiKey } });

test("a file deleted at one process is removed from another's directory, and both warn that files are not shared", async () => {
  const [holder, other] = gateways;
  const body = new FormData();
  body.set("kind", "document");
  body.set("file", new Blob(["Dear all"]), "letter.txt");
  const sent = await ask(holder, "", { method: "POST", body });
  expect(sent.status).toBe(201);
  const { id } = (await sent.json()) as { id: string };
  expect(await storedBytes(holder.dataDir)).toEqual([id]);
  const deleted = await until(
    () => ask(other, `/${id}`, { method: "DELETE" }),
    ({ status }) => status < 300,
  );
  expect(deleted.ok).toBe(true);
  await nothingStored(holder.dataDir);
  expect(other.output()).toContain("files_not_shared");
});
