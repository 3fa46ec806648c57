import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AdminClient, rowOf, signIn } from "../../support/worlds/admin.ts";
import { ADMIN_PASSWORD } from "../../support/gateway.ts";
import { newPerson, type PortalClient } from "../../support/worlds/portal.ts";
import { startWorld, type World } from "../../support/world.ts";

/** A skill's path from an administrator's ZIP to the portal of those who may use it. */
let world: World;
let admin: AdminClient;
let other: AdminClient;
const PATH = "/v1/admin/agent-skills";
const folder = mkdtempSync(join(tmpdir(), "skills-"));

beforeAll(async () => {
  world = await startWorld();
  const account = { tenant_id: "default", username: "keeper-of-skills", password: ADMIN_PASSWORD };
  await world.admin.post("/v1/admin/admin-users", { ...account, role: "owner" });
  admin = await signIn(world.gateway.adminUrl, account, "tenant");
  await world.admin.post("/v1/admin/tenants", { id: "others", name: "others" });
  await world.admin.post("/v1/admin/admin-users", { ...account, tenant_id: "others", role: "owner" });
  other = await signIn(world.gateway.adminUrl, { ...account, tenant_id: "others" }, "tenant");
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await world.end();
});

const documentOf = (name: string, description = "Counts words.") => `---\nname: ${name}\ndescription: ${description}\n---\n# ${name}\n`;

const imported = (name: string, files: object[] = [], description?: string) =>
  admin.post(`${PATH}/import`, { files: [{ path: "SKILL.md", content: documentOf(name, description) }, ...files] });

async function upload(body: Uint8Array | FormData, type?: string): Promise<{ status: number; body: any }> {
  const response = await fetch(world.gateway.adminUrl + `${PATH}/import`, {
    method: "POST",
    headers: { authorization: `Bearer ${admin.token}`, ...(type === undefined ? {} : { "content-type": type }) },
    body: body as BodyInit,
  });
  return { status: response.status, body: await response.json() };
}

/** Downloads from an address of either plane. */
async function taken(address: string, token: string): Promise<{ status: number; name: string | null; bytes: Uint8Array }> {
  const response = await fetch(address, { headers: { authorization: `Bearer ${token}` } });
  return {
    status: response.status,
    name: response.headers.get("content-disposition"),
    bytes: new Uint8Array(await response.arrayBuffer()),
  };
}

const exported = (id: string, version: number, query = "") =>
  taken(`${world.gateway.adminUrl}${PATH}/${id}/versions/${version}/export${query}`, admin.token);

/** Packs a folder as an author would, with Python's own archiver. */
function packed(source: string, name: string): Uint8Array {
  const target = join(folder, `${name}.zip`);
  const script =
    "import os,sys,zipfile\nz=zipfile.ZipFile(sys.argv[2],'w',zipfile.ZIP_DEFLATED)\n" +
    "for d,_,fs in os.walk(sys.argv[1]):\n for f in fs:\n  p=os.path.join(d,f);z.write(p,os.path.relpath(p,os.path.dirname(sys.argv[1])))\nz.close()";
  execFileSync("python3", ["-c", script, source, target]);
  return readFileSync(target);
}

describe("an import", () => {
  test("of a ZIP file is stored byte for byte, and exported identically each time", async () => {
    const source = join(folder, "report-maker");
    mkdirSync(join(source, "scripts"), { recursive: true });
    writeFileSync(join(source, "SKILL.md"), documentOf("report-maker"));
    writeFileSync(join(source, "scripts", "make.py"), "print('made')\r\n", { mode: 0o755 });
    writeFileSync(join(source, "table.bin"), new Uint8Array([0, 1, 255, 13, 10]));
    const archive = packed(source, "report-maker");
    const form = new FormData();
    form.set("file", new File([new Uint8Array(archive)], "report-maker.zip"));
    const first = await upload(form);
    expect([first.status, first.body.created, first.body.version.version]).toEqual([200, true, 1]);
    expect(first.body.version.files.map(({ path, executable }: any) => [path, executable])).toEqual([
      ["SKILL.md", false],
      ["scripts/make.py", true],
      ["table.bin", false],
    ]);
    const again = await upload(archive, "application/zip");
    expect([again.status, again.body.created, again.body.version]).toEqual([200, false, first.body.version]);

    const { id } = first.body.skill;
    const whole = await exported(id, 1);
    expect([whole.status, whole.name]).toEqual([200, 'attachment; filename="report-maker-1.zip"']);
    expect((await exported(id, 1)).bytes).toEqual(whole.bytes);
    const round = await upload((await exported(id, 1, "?layout=folder")).bytes, "application/zip");
    expect([round.body.created, round.body.version.digest]).toEqual([false, first.body.version.digest]);

    const unpacked = join(folder, "unpacked");
    mkdirSync(unpacked);
    writeFileSync(join(folder, "out.zip"), whole.bytes);
    execFileSync("python3", ["-m", "zipfile", "-e", join(folder, "out.zip"), unpacked]);
    expect(readdirSync(unpacked).sort()).toEqual(["SKILL.md", "scripts", "table.bin"]);
    for (const { path, digest, size } of first.body.version.files) {
      const bytes = readFileSync(join(unpacked, path));
      expect([path, digest, size]).toEqual([
        path,
        `sha256:${createHash("sha256").update(bytes).digest("hex")}`,
        statSync(join(source, path)).size,
      ]);
      expect(bytes).toEqual(readFileSync(join(source, path)));
    }
  });

  test("of changed files is the next version; publishing any version is in the admin log", async () => {
    const { skill } = await imported("grows");
    const second = await imported("grows", [{ path: "notes.md", content: "more" }], "Grows more.");
    expect([second.skill.id, second.version.version, second.skill.published_version, second.skill.description]).toEqual([
      skill.id,
      2,
      null,
      "Counts words.",
    ]);
    const publish = (version: number | string) => admin.request("POST", `${PATH}/${skill.id}/versions/${version}/publish`);
    expect((await publish(2)).body).toMatchObject({ published_version: 2, latest_version: 2, description: "Grows more." });
    expect((await publish(1)).body).toMatchObject({ published_version: 1, latest_version: 2, description: "Counts words." });
    for (const none of ["3", "0", "x", "1e0", "-1"]) expect([none, (await publish(none)).status]).toEqual([none, 404]);
    const { versions } = await admin.get(`${PATH}/${skill.id}/versions`);
    expect(versions.map(({ version, published }: any) => [version, published])).toEqual([
      [2, false],
      [1, true],
    ]);
    const log = (await admin.get("/v1/admin/admin-log?resource=agent-skills")).entries.filter((one: any) => one.resource_id === skill.id);
    expect(log.map(({ action }: any) => action).sort()).toEqual(["create", "import", "import", "publish", "publish"]);
  });

  test("repeated at the same time creates one version", async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => imported("at-once")));
    expect(new Set(answers.map(({ skill }) => skill.id)).size).toBe(1);
    expect(answers.map(({ created }) => created).sort()).toEqual([false, false, false, false, true]);
  });

  test("of an invalid skill is refused with the place of the error, and stores nothing", async () => {
    const before = (await admin.get(PATH)).total;
    const refused = async (files: object[]) => {
      const { status, body } = await admin.request("POST", `${PATH}/import`, { files });
      return [status, body.code, body.fields[0]];
    };
    expect(await refused([{ path: "SKILL.md", content: "---\nname: Bad\ndescription: d\n---\n" }])).toEqual([
      400,
      "invalid_body",
      { field: "SKILL.md:2", message: "name: must be 1 to 64 lower-case letters, digits and single hyphens, with none at either end" },
    ]);
    expect(await refused([{ path: "../SKILL.md", content: "x" }])).toMatchObject([400, "invalid_body", { field: '"../SKILL.md"' }]);
    expect(await refused([{ path: "SKILL.md" }])).toMatchObject([400, "invalid_body", { field: "files.0.content" }]);
    expect(await refused([{ path: "SKILL.md", content_base64: "%" }])).toMatchObject([400, "invalid_body", {}]);
    for (const bytes of [new Uint8Array(0), new TextEncoder().encode("PK no archive"), new Uint8Array(70_000).fill(0x50)])
      expect((await upload(bytes, "application/zip")).body).toMatchObject({ code: "invalid_body", fields: [{ field: "file" }] });
    expect((await admin.get(PATH)).total).toBe(before);
  });
});

describe("access to a skill", () => {
  test("is refused to another tenant, which cannot grant it either", async () => {
    const { skill } = await imported("private-one");
    const group = (await other.post("/v1/admin/resource-groups", { name: "theirs" })).id;
    for (const [method, path, body] of [
      ["GET", `${PATH}/${skill.id}`],
      ["PATCH", `${PATH}/${skill.id}`, { enabled: false }],
      ["DELETE", `${PATH}/${skill.id}`],
      ["GET", `${PATH}/${skill.id}/versions`],
      ["GET", `${PATH}/${skill.id}/resource-groups`],
      ["GET", `${PATH}/${skill.id}/versions/1`],
      ["GET", `${PATH}/${skill.id}/versions/1/export`],
      ["POST", `${PATH}/${skill.id}/versions/1/publish`],
    ] as const)
      expect([method, path, (await other.request(method, path, body)).status]).toEqual([method, path, 404]);
    const granted = await other.request("POST", `/v1/admin/resource-groups/${group}/agent-skills`, { skill_ids: [skill.id] });
    expect([granted.status, granted.body.fields[0].field]).toEqual([400, "skill_ids"]);
    expect((await other.get(PATH)).total).toBe(0);
  });

  test("is inherited by child groups, unless they do not inherit", async () => {
    const { skill } = await imported("handed-down");
    const group = async (name: string, more: object = {}) => (await admin.post("/v1/admin/resource-groups", { name, ...more })).id;
    const top = await group("skills-top");
    const below = await group("skills-below", { parent_group_id: top });
    const apart = await group("skills-apart", { parent_group_id: top, inherit_resources: false });
    const at = (id: string) => `/v1/admin/resource-groups/${id}/agent-skills`;
    const listed = async (id: string) => (await admin.get(at(id))).agent_skills.map(({ name, inherited }: any) => [name, inherited]);
    expect(await admin.post(at(top), { skill_ids: [skill.id] })).toEqual({ bound: [skill.id], already_bound: [] });
    expect((await admin.request("POST", at(top), { skill_ids: [skill.id] })).body).toMatchObject({
      code: "already_bound",
      already_bound: [skill.id],
    });
    expect([await listed(top), await listed(below), await listed(apart)]).toEqual([[["handed-down", false]], [["handed-down", true]], []]);
    const mayUse = async () =>
      (await admin.get(`${PATH}/${skill.id}/resource-groups`)).resource_groups.map((one: any) => [
        one.name,
        one.inherited,
        one.bound_group_name,
      ]);
    expect(await mayUse()).toEqual([
      ["skills-below", true, "skills-top"],
      ["skills-top", false, "skills-top"],
    ]);
    expect((await admin.request("DELETE", at(below), { skill_ids: [skill.id] })).body.code).toBe("not_bound");
    expect((await admin.request("DELETE", `${at(top)}?skill_ids=${skill.id}`)).body).toEqual({ unbound: [skill.id], not_bound: [] });
    expect([await listed(below), await mayUse()]).toEqual([[], []]);
  });
});

describe("the portal", () => {
  let person: PortalClient & { readonly id: string };
  let skill: any;
  const listed = async () => (await person.request("GET", "/skills")).body;
  const take = (id: string) => taken(`${world.gateway.runtimeUrl}/v1/portal/skills/${id}/export`, person.token ?? "");

  test("offers a skill only if it is granted, published, enabled and exportable", async () => {
    person = await newPerson(world.gateway.runtimeUrl, "taker");
    const top = (await admin.post("/v1/admin/resource-groups", { name: "takers" })).id;
    const below = (await admin.post("/v1/admin/resource-groups", { name: "takers-below", parent_group_id: top })).id;
    await admin.request("PATCH", `/v1/admin/end-users/${person.id}/primary-group`, { group_id: below });
    ({ skill } = await imported("to-take", [{ path: "scripts/a.sh", content: "echo a", executable: true }]));
    const steps = [
      () => admin.post(`${PATH}/${skill.id}/versions/1/publish`, undefined),
      () => admin.request("PATCH", `${PATH}/${skill.id}`, { allow_local_export: true }),
      () => admin.post(`/v1/admin/resource-groups/${top}/agent-skills`, { skill_ids: [skill.id] }),
    ];
    for (const step of steps) {
      expect([await listed(), (await take(skill.id)).status]).toEqual([{ skills: [], total: 0 }, 404]);
      await step();
    }
    const told = { id: skill.id, name: "to-take", description: "Counts words.", version: 1, execution_count: 0 };
    expect(await listed()).toEqual({ skills: [told], total: 1 });
    const file = await take(skill.id);
    expect([file.status, file.name, file.bytes]).toEqual([
      200,
      'attachment; filename="to-take-1.zip"',
      (await exported(skill.id, 1)).bytes,
    ]);
    const row = await rowOf(world.admin, { proxy_type: "portal", proxy_subtype: "skill_export", http_status_code: 200 });
    expect(row).toMatchObject({ success: true, subject_id: person.id });
  });

  test("stops offering a disabled skill, and never offers it to an outsider", async () => {
    const stranger = await newPerson(world.gateway.runtimeUrl, "no-taker");
    expect((await stranger.request("GET", `/skills/${skill.id}/export`)).status).toBe(404);
    expect((await person.request("GET", "/skills/%00/export")).status).toBe(404);
    await admin.request("PATCH", `${PATH}/${skill.id}`, { enabled: false });
    expect([await listed(), (await take(skill.id)).status]).toEqual([{ skills: [], total: 0 }, 404]);
  });
});
