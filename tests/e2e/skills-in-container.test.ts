import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { type AdminClient, signIn } from "../support/admin.ts";
import { type TestDatabase, testDatabase } from "../support/database.ts";
import { type GatewayProcess, removeDirectory, startGateway } from "../support/gateway.ts";

/** A gateway that is process 1, as in a container that starts it: its numbers are those of the sandbox, and every orphan is its own. */
let database: TestDatabase;
let gateway: GatewayProcess;
let admin: AdminClient;
const asWhoever = process.getuid?.() === 0 ? [] : ["--user", "--map-root-user"];

beforeAll(async () => {
  database = await testDatabase();
  gateway = await startGateway({
    databaseUrl: database.url,
    command: ["unshare", ...asWhoever, "--pid", "--fork", "--kill-child", "--mount-proc", "node", "bin/gatehouse.mjs", "start"],
  });
  admin = await signIn(gateway.adminUrl);
});
afterAll(async () => {
  await gateway.kill();
  await database.close();
  await removeDirectory(gateway.dataDir);
});

/** What has ended and was left to process 1, which collects no children of others. */
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

test("scripts run where the gateway is process 1, and no process is left of them", async () => {
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
