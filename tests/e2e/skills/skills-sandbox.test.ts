import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AdminClient, rowOf, rowsOf, signIn } from "../../support/worlds/admin.ts";
import { escapeAttempts, type Host } from "../../support/records/escape-attempts.ts";
import { ADMIN_PASSWORD } from "../../support/gateway.ts";
import { startWorld, type World } from "../../support/world.ts";
import { newTeam, post, stateless, type Team } from "../tools/mcp-harness.ts";

/** Scripts that try to break out, through the real server: none gets anything, each has its row, and nothing is left behind. */
let world: World;
let admin: AdminClient;
let team: Team;
let url: string;
const folder = mkdtempSync(join(tmpdir(), "escape-"));
/** A folder for this gateway's runs only: other gateways on the machine run scripts too, and probe their sandbox at start. */
const runs = mkdtempSync(join(tmpdir(), "runs-"));

beforeAll(async () => {
  world = await startWorld({ TMPDIR: runs });
  const account = { tenant_id: "default", username: "keeper-of-skills", password: ADMIN_PASSWORD };
  await world.admin.post("/v1/admin/admin-users", { ...account, role: "owner" });
  admin = await signIn(world.gateway.adminUrl, account, "tenant");
  team = await newTeam(admin, "hostile");
  url = `${world.gateway.runtimeUrl}/v1/proxy/mcp/system-agent-skill-server-default`;
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await world.end();
  rmSync(runs, { recursive: true, force: true });
});

async function skillOf(name: string, scripts: readonly (readonly [string, string])[], seconds: number): Promise<void> {
  const files = [
    { path: "SKILL.md", content: `---\nname: ${name}\ndescription: Tries.\n---\n` },
    ...scripts.map(([path, content]) => ({ path: `scripts/${path}`, content })),
  ];
  const { skill } = await admin.post("/v1/admin/agent-skills/import", { files });
  await admin.post(`/v1/admin/agent-skills/${skill.id}/versions/1/publish`, {});
  await admin.post(`/v1/admin/resource-groups/${team.groupId}/agent-skills`, { skill_ids: [skill.id] });
  await admin.request("PATCH", `/v1/admin/resource-groups/${team.groupId}/agent-skills/${skill.id}/limits`, {
    limits: { execution: { timeout_seconds: seconds } },
  });
}

let asked = 0;
const run = (skill: string, script: string, args: string[] = []) =>
  post(
    url,
    team.apiKey,
    stateless(++asked, "tools/call", { name: "skills__run_script", arguments: { skill_name: skill, script: `scripts/${script}`, args } }),
  );

/** Processes that currently run in this gateway's sandbox. */
const confined = () =>
  readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(`${runs}/gatehouse-skills-`);
    } catch {
      return false;
    }
  });
const mounts = () => readFileSync("/proc/self/mounts", "utf8").split("\n").length;

test("no escape attempt succeeds, the gateway stays up, and each attempt has its row", async () => {
  const file = join(folder, "host.txt");
  writeFileSync(file, "a secret of the host");
  const host: Host = {
    file,
    secret: "a secret of the host",
    pid: process.pid,
    ports: [world.gateway.runtimeUrl, world.gateway.adminUrl].map((address) => Number(new URL(address).port)),
    dataDir: folder,
  };
  const attempts = escapeAttempts(host);
  expect(attempts.length).toBeGreaterThanOrEqual(200);
  await skillOf(
    "hostile",
    attempts.map(([name, script], index) => [`${index}-${name}`, script]),
    5,
  );
  const before = mounts();
  const answers: Awaited<ReturnType<typeof run>>[] = [];
  for (let from = 0; from < attempts.length; from += 8)
    answers.push(...(await Promise.all(attempts.slice(from, from + 8).map(([name], index) => run("hostile", `${from + index}-${name}`)))));
  const escaped = answers.flatMap(({ status, text }, index) =>
    status !== 200 || text.includes("ESCAPED") || text.includes(host.secret)
      ? [`${attempts[index]?.[1]}: ${status} ${text.slice(0, 500)}`]
      : [],
  );
  expect(escaped).toEqual([]);
  const ids = new Set(answers.map(({ headers }) => headers.get("x-request-id")));
  expect(ids.size).toBe(attempts.length);
  expect((await fetch(`${world.gateway.runtimeUrl}/readyz`)).status).toBe(200);
  const told: Awaited<ReturnType<typeof rowOf>>[] = [];
  for (let from = 0; from < ids.size; from += 8)
    told.push(...(await Promise.all([...ids].slice(from, from + 8).map((id) => rowOf(admin, { id })))));
  expect(told.filter(({ proxy_subtype }) => proxy_subtype !== "skill_run")).toEqual([]);
  expect([confined(), mounts()]).toEqual([[], before]);
});

test("scripts run in parallel, and no process or mount is left", async () => {
  const scripts = [
    ["say.sh", 'echo "said $1"'],
    ["nap.sh", "sleep 0.5; echo rested"],
  ] as const;
  await skillOf("quick", scripts, 60);
  const together = await Promise.all(
    Array.from({ length: 50 }, (_, index) => run("quick", index % 2 === 0 ? "say.sh" : "nap.sh", [String(index)])),
  );
  expect(together.map(({ body }) => body.result.content[0].text)).toEqual(
    Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? `said ${index}\n` : "rested\n")),
  );
  expect(confined()).toEqual([]);
  expect((await rowsOf(admin, { proxy_subtype: "skill_run" }, 50)).length).toBeGreaterThanOrEqual(50);
});
