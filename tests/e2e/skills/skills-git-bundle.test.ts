import { afterAll, beforeAll, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type AdminClient, signIn } from "../../support/worlds/admin.ts";
import { ADMIN_PASSWORD } from "../../support/gateway.ts";
import { newTeam } from "../tools/mcp-harness.ts";
import { startWorld, type World } from "../../support/world.ts";

/** Skills from Git repositories that are uploaded as a bundle file. */
let world: World;
let admin: AdminClient;
const folder = mkdtempSync(join(tmpdir(), "bundles-"));
const ENV = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };

beforeAll(async () => {
  world = await startWorld();
  const account = { tenant_id: "default", username: "keeper-of-skills", password: ADMIN_PASSWORD };
  await world.admin.post("/v1/admin/admin-users", { ...account, role: "owner" });
  admin = await signIn(world.gateway.adminUrl, account, "tenant");
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await world.end();
});

const git = (place: string, ...args: string[]) =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example", "-c", "init.defaultBranch=main", "-C", place, ...args], {
    env: ENV,
  });

function repository(name: string, files: Readonly<Record<string, string>>): string {
  const place = join(folder, name);
  mkdirSync(place);
  git(place, "init", "--quiet");
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(place, path)), { recursive: true });
    writeFileSync(join(place, path), text);
    if (path.endsWith(".sh")) chmodSync(join(place, path), 0o755);
  }
  git(place, "add", "-A");
  git(place, "commit", "--quiet", "-m", "one");
  return place;
}

function bundleOf(place: string, ...what: string[]): Uint8Array {
  git(place, "bundle", "create", "--quiet", join(folder, "out.bundle"), ...(what.length === 0 ? ["--all"] : what));
  return new Uint8Array(readFileSync(join(folder, "out.bundle")));
}

async function upload(bytes: Uint8Array, query: Record<string, string> = {}, asForm = true): Promise<{ status: number; body: any }> {
  const form = new FormData();
  form.set("file", new Blob([bytes as never]), "skills.bundle");
  const response = await fetch(`${world.gateway.adminUrl}/v1/admin/agent-skills/import?${new URLSearchParams(query)}`, {
    method: "POST",
    headers: { authorization: `Bearer ${admin.token}`, ...(asForm ? {} : { "content-type": "application/x-git-bundle" }) },
    body: asForm ? form : (bytes as never),
  });
  return { status: response.status, body: await response.json() };
}

const skillText = (name: string) => `---\nname: ${name}\ndescription: Does ${name}.\n---\n# ${name}\r\nkept as it is\n`;

test("a folder of the repository is imported byte for byte, with executable bits, from a branch or tag", async () => {
  const place = repository("many", {
    "README.md": "no skill",
    "skills/first/SKILL.md": skillText("first"),
    "skills/first/scripts/go.sh": "echo went\n",
    "skills/second/SKILL.md": skillText("second"),
  });
  git(place, "tag", "v1");
  writeFileSync(join(place, "skills/first/scripts/go.sh"), "echo went further\n");
  git(place, "commit", "--quiet", "-am", "two");
  const bundle = bundleOf(place);
  const first = await upload(bundle, { path: "skills/first", ref: "v1" });
  expect([first.status, first.body.skill?.name, first.body.version?.version, first.body.created]).toEqual([200, "first", 1, true]);
  const second = await upload(bundle, { path: "/skills/first/" }, false);
  expect(second.body).toMatchObject({ skill: { id: first.body.skill.id }, version: { version: 2 }, created: true });
  expect((await upload(bundle, { path: "skills/first" })).body.created).toBe(false);
  const version = await admin.get(`/v1/admin/agent-skills/${first.body.skill.id}/versions/2`);
  expect(version.files).toMatchObject([
    { path: "SKILL.md", size: skillText("first").length, executable: false },
    { path: "scripts/go.sh", executable: true },
  ]);
  const { body: whole } = await upload(bundle);
  expect([whole.code, whole.fields[0].field]).toEqual(["invalid_body", "path"]);
  expect(whole.fields[0].message).toContain("skills/first, skills/second");
  expect((await upload(bundle, { path: "skills/third" })).body.fields[0].field).toBe("path");
  expect((await upload(bundle, { path: "skills/first", ref: "v9" })).body.fields[0]).toEqual({
    field: "ref",
    message: expect.stringMatching(/none of the bundle's: it has .*v1/),
  });
  expect(readdirSync(tmpdir()).filter((name) => name.startsWith("gatehouse-bundle-"))).toEqual([]);
});

test("a single-skill repository needs no path; links, partial bundles and invalid files are refused by field", async () => {
  const place = repository("single", { "SKILL.md": skillText("single") });
  expect((await upload(bundleOf(place, "main"))).body.skill.name).toBe("single");
  symlinkSync("/etc/passwd", join(place, "link.txt"));
  git(place, "add", "-A");
  git(place, "commit", "--quiet", "-m", "two");
  expect((await upload(bundleOf(place))).body.fields[0]).toEqual({ field: "link.txt", message: expect.stringContaining("link") });
  expect((await upload(bundleOf(place, "main~1..main"))).body.fields[0]).toEqual({
    field: "file",
    message: expect.stringContaining("all it builds upon"),
  });
  const torn = bundleOf(place).slice(0, -40);
  expect((await upload(torn)).status).toBe(400);
  const refused = await upload(new Uint8Array(Buffer.from("# v2 git bundle\nnonsense")));
  expect([refused.status, refused.body.fields[0].field]).toEqual([400, "file"]);
  const large = repository("large", { "SKILL.md": skillText("large"), "big.txt": "x".repeat(17 * 1024 * 1024) });
  expect((await upload(bundleOf(large))).body.fields[0].message).toContain("16 MiB");
});

test("limits of an unknown skill get 404", async () => {
  const { groupId } = await newTeam(admin, "limited");
  const path = `/v1/admin/resource-groups/${groupId}/agent-skills/skill-none/limits`;
  for (const [method, body] of [
    ["GET", undefined],
    ["PATCH", { limits: {} }],
  ] as const)
    expect((await admin.request(method, path, body)).status).toBe(404);
});
