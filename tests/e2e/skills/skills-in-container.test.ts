import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { type AdminClient, signIn } from "../../support/worlds/admin.ts";
import { type TestDatabase, testDatabase } from "../../support/database.ts";
import { type GatewayProcess, removeDirectory, startGateway, temporaryDirectory } from "../../support/gateway.ts";

/** A gateway that is PID 1, as when a container starts it: its PIDs are those of the sandbox, and every orphan becomes its child. */
let database: TestDatabase;
let gateway: GatewayProcess;
let admin: AdminClient;
/** Gateways outside the container that share its temporary folder: one started before it, one after. */
let outside: GatewayProcess[];
const asWhoever = process.getuid?.() === 0 ? [] : ["--user", "--map-root-user"];

beforeAll(async () => {
  database = await testDatabase();
  const env = { TMPDIR: await temporaryDirectory() };
  await chmod(env.TMPDIR, 0o755);
  const first = await startGateway({ databaseUrl: database.url, env });
  gateway = await startGateway({
    databaseUrl: database.url,
    env,
    command: ["unshare", ...asWhoever, "--pid", "--fork", "--kill-child", "--mount-proc", "node", "bin/gatehouse.mjs", "start"],
  });
  outside = [first, await startGateway({ databaseUrl: database.url, env })];
  admin = await signIn(gateway.adminUrl);
});
afterAll(async () => {
  for (const one of [gateway, ...outside]) {
    await one.kill();
    await removeDirectory(one.dataDir);
  }
  await database.close();
});

/** Zombies that were reparented to PID 1, which does not reap children of others. */
function uncollected(): string[] {
  const orphan = new RegExp(`^\\d+ \\((.*)\\) Z ${gateway.pid()} `);
  return readdirSync("/proc").flatMap((pid) => {
    try {
      return orphan.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.[1] ?? [];
    } catch {
      return [];
    }
  });
}

test("scripts run if the gateway is process 1, and leave no zombies", async () => {
  const files = [
    { path: "SKILL.md", content: "---\nname: contained\ndescription: Runs in a container.\n---\n" },
    { path: "scripts/say.sh", content: 'sleep 60 & echo "said $1"' },
  ];
  const { skill } = await admin.post("/v1/admin/agent-skills/import", { files });
  for (const word of ["one", "two", "three"]) {
    const ran = await admin.post(`/v1/admin/agent-skills/${skill.id}/versions/1/try`, { script: "scripts/say.sh", args: [word] });
    expect([ran.end, ran.stdout, ran.sandbox]).toEqual(["exited", `said ${word}\n`, "bubblewrap"]);
  }
  expect(uncollected()).toEqual([]);
});

test("gateways in different PID namespaces leave each other's files alone", async () => {
  const files = [
    { path: "SKILL.md", content: "---\nname: shared\ndescription: Runs wherever it is asked to.\n---\n" },
    { path: "scripts/say.sh", content: "echo said" },
  ];
  const { skill } = await admin.post("/v1/admin/agent-skills/import", { files });
  for (const { adminUrl } of [gateway, ...outside]) {
    const there = await signIn(adminUrl);
    const ran = await there.post(`/v1/admin/agent-skills/${skill.id}/versions/1/try`, { script: "scripts/say.sh" });
    expect([ran.end, ran.stdout]).toEqual(["exited", "said\n"]);
  }
});
