import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AdminClient, signIn } from "../../support/worlds/admin.ts";
import { ADMIN_PASSWORD } from "../../support/gateway.ts";
import { startWorld, type World } from "../../support/world.ts";

/** Scripts that an administrator tries out before anyone may run them. */
let world: World;
let admin: AdminClient;
let path = "";
const PATH = "/v1/admin/agent-skills";

const NAMES = ["-a.txt", "a@b.txt", "a(b.txt", "größe.txt", "plain.txt", "\u202efdp.exe", "x".repeat(140), "zuletzt 1.txt"];

beforeAll(async () => {
  world = await startWorld();
  const account = { tenant_id: "default", username: "keeper-of-skills", password: ADMIN_PASSWORD };
  await world.admin.post("/v1/admin/admin-users", { ...account, role: "owner" });
  admin = await signIn(world.gateway.adminUrl, account, "tenant");
  const files = [
    { path: "SKILL.md", content: "---\nname: tried\ndescription: d\n---\n" },
    { path: "scripts/say.sh", content: 'echo "said $1 and $(cat)"; echo oops >&2; echo kept > /output/made.txt; exit 3' },
    { path: "scripts/sum.js", content: "console.log(process.argv.slice(2).map(Number).reduce((a, b) => a + b, 0))" },
    { path: "scripts/names.py", content: `for name in ${JSON.stringify(NAMES)}: open("/output/" + name, "w").write(name)` },
    { path: "scripts/nap.py", content: "import time; time.sleep(60)" },
    { path: "scripts/data.csv", content: "a,b" },
  ];
  path = `${PATH}/${(await admin.post(`${PATH}/import`, { files })).skill.id}/versions/1/try`;
});
afterAll(() => world.end());

test("a trial returns the script's output, files and exit code, and is in the admin log", async () => {
  const said = await admin.post(path, { script: "scripts/say.sh", args: ["one thing"], stdin: "more" });
  expect(said).toMatchObject({
    ...{ script: "scripts/say.sh", version: 1, end: "exited", exit_code: 3, sandbox: "bubblewrap" },
    ...{ stdout: "said one thing and more\n", stderr: "oops\n", files: [{ name: "made.txt", size: 5 }] },
  });
  expect(await admin.post(path, { script: "scripts/sum.js", args: ["1", "2"] })).toMatchObject({ exit_code: 0, stdout: "3\n" });
  expect(await admin.post(path, { script: "scripts/nap.py", timeout_seconds: 1 })).toMatchObject({ end: "deadline" });
  const { entries } = await admin.get("/v1/admin/admin-log?resource=agent-skills&action=try_script");
  expect(entries.map(({ after }: any) => after.script).sort()).toEqual(["scripts/nap.py", "scripts/say.sh", "scripts/sum.js"]);
  expect(JSON.stringify(entries)).not.toContain("one thing");
});

test("files created by a script get valid names", async () => {
  const { files } = await admin.post(path, { script: "scripts/names.py" });
  expect(files.map(({ name }: { readonly name: string }) => name).sort()).toEqual(
    ["_a.txt", "a_b.txt", "2_a_b.txt", "größe.txt", "plain.txt", "_fdp.exe", "x".repeat(128), "zuletzt 1.txt"].sort(),
  );
});

test("an unknown script or version, and a skill of another tenant, are refused", async () => {
  for (const script of ["scripts/none.sh", "SKILL.md", "scripts/data.csv", "../../etc/passwd"]) {
    const refused = await admin.request("POST", path, { script });
    expect([script, refused.status >= 400 && refused.status < 500]).toEqual([script, true]);
  }
  expect((await admin.request("POST", path.replace("/1/", "/9/"), { script: "scripts/say.sh" })).status).toBe(404);
  await world.admin.post("/v1/admin/tenants", { id: "others", name: "others" });
  const account = { tenant_id: "others", username: "other", password: ADMIN_PASSWORD };
  await world.admin.post("/v1/admin/admin-users", { ...account, role: "owner" });
  const other = await signIn(world.gateway.adminUrl, account, "tenant");
  expect((await other.request("POST", path, { script: "scripts/say.sh" })).status).toBe(404);
  await world.admin.post("/v1/admin/admin-users", { tenant_id: "default", username: "reader", password: ADMIN_PASSWORD, role: "viewer" });
  const reader = await signIn(world.gateway.adminUrl, { tenant_id: "default", username: "reader", password: ADMIN_PASSWORD }, "tenant");
  expect((await reader.request("POST", path, { script: "scripts/say.sh" })).status).toBe(403);
});
