import { afterAll, beforeAll, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { AdminClient } from "../../support/worlds/admin.ts";
import { until } from "../../support/until.ts";
import { newPerson, type PortalClient } from "../../support/worlds/portal.ts";
import { startWorld, type World } from "../../support/world.ts";
import { newTeam } from "../tools/mcp-harness.ts";

/** Documents imported from their sources, with the sources' read permissions. */
const root = mkdtempSync(join(tmpdir(), "knowledge-sources-"));
const home = join(root, "default");
let world: World;
let admin: AdminClient;
let groupId = "";
let ada: PortalClient & { readonly id: string };
let bob: PortalClient & { readonly id: string };
const tenant = { tenant_id: "default" };

const put = (path: string, text: string) => {
  mkdirSync(dirname(join(home, path)), { recursive: true });
  writeFileSync(join(home, path), text);
};
const git = (...args: string[]) => {
  const done = spawnSync("git", ["-c", "user.name=x", "-c", "user.email=x@example.com", ...args], {
    cwd: join(home, "repo"),
    encoding: "utf8",
  });
  expect(done.stderr + String(done.status)).toContain("0");
};

beforeAll(async () => {
  mkdirSync(home);
  world = await startWorld({ GW_KNOWLEDGE_DIR: root });
  ({ admin } = world);
  ({ groupId } = await newTeam(admin, "readers"));
  [ada, bob] = [await newPerson(world.gateway.runtimeUrl, "ada"), await newPerson(world.gateway.runtimeUrl, "bob")];
  const members = await admin.post("/v1/admin/end-user-groups", { name: "readers", initial_member_ids: [ada.id, bob.id] });
  await admin.post(`/v1/admin/end-user-groups/${members.id}/resource-groups`, { resource_group_ids: [groupId] });
  for (const connector_type of ["directory", "git"])
    await admin.post("/v1/admin/kb-identities", { ...tenant, end_user_id: ada.id, connector_type, source_identity: "staff" });
});
afterAll(async () => {
  await world.end();
  rmSync(root, { recursive: true });
});

const baseOf = async (name: string) =>
  (await admin.post("/v1/admin/knowledgebases", { ...tenant, name, group_ids: [groupId] })).id as string;
const connect = (knowledge_base_id: string, connector_type: string, location: string) =>
  admin.post("/v1/admin/kb-connectors", { ...tenant, name: location, knowledge_base_id, connector_type, location });

const documentsOf = async (base: string): Promise<any[]> => (await admin.get(`/v1/admin/knowledgebases/${base}/documents`)).documents;
const ready = (base: string, names: readonly string[]) =>
  until(
    () => documentsOf(base),
    (found) => JSON.stringify(found.map(({ name, status }) => [name, status])) === JSON.stringify(names.map((name) => [name, "ready"])),
  );
const synced = async (id: string) => {
  const { synced_at: before } = await admin.get(`/v1/admin/kb-connectors/${id}`);
  const asked = await admin.request("POST", `/v1/admin/kb-connectors/${id}/sync`, {});
  expect(asked.status).toBe(202);
  return until(
    () => admin.get(`/v1/admin/kb-connectors/${id}`),
    ({ synced_at, problem }) => synced_at !== before || problem !== null,
  );
};
const counts = async (base: string) =>
  Promise.all([ada, bob].map(async (who) => (await who.request("GET", `/knowledgebases/${base}`)).body.document_count));

test("a directory's files are imported, updated and removed, each readable for the identities in its mapping", async () => {
  const base = await baseOf("wiki");
  put("wiki/permissions.json", JSON.stringify({ "open/": ["*"], staff: ["staff"] }));
  put("wiki/open/hello.md", "# Hello\n\nEverybody reads this.");
  put("wiki/staff/plan.txt", "Only staff read this.");
  put("wiki/staffing.txt", "Nobody is named for this.");
  put("wiki/picture.png", "x");
  put("wiki/.hidden.txt", "x");
  writeFileSync(join(root, "secret.txt"), "of the machine");
  symlinkSync(join(root, "secret.txt"), join(home, "wiki/link.txt"));
  const { id } = await connect(base, "directory", "wiki");
  const documents = await ready(base, ["open/hello.md", "staff/plan.txt", "staffing.txt"]);
  expect(documents.map(({ permissions }) => permissions.identities)).toEqual([["*"], ["staff"], []]);
  expect((await synced(id)).skipped).toEqual(["picture.png: is of no kind that is read"]);
  expect(await counts(base)).toEqual([2, 1]);

  put("wiki/staff/plan.txt", "Only staff read that.");
  rmSync(join(home, "wiki/open/hello.md"));
  put("wiki/permissions.json", JSON.stringify({ "": ["*"] }));
  await synced(id);
  await ready(base, ["staff/plan.txt", "staffing.txt"]);
  expect(await counts(base)).toEqual([2, 2]);
  const { passages } = await admin.post(`/v1/admin/knowledgebases/${base}/search`, { query: "staff", end_user_id: bob.id });
  expect(passages[0].text).toBe("Only staff read that.");

  put("wiki/permissions.json", "{");
  expect((await synced(id)).problem).toContain("does not say who reads what");
  expect(await counts(base)).toEqual([0, 0]);
  expect((await admin.request("DELETE", `/v1/admin/kb-connectors/${id}`)).status).toBe(204);
  expect(await documentsOf(base)).toEqual([]);
});

test("an empty directory, such as an unmounted one, removes no document", async () => {
  const base = await baseOf("mounted");
  put("mounted/permissions.json", JSON.stringify({ "": ["*"] }));
  put("mounted/hello.md", "Everybody reads this.");
  const { id } = await connect(base, "directory", "mounted");
  const [{ id: documentId }] = await ready(base, ["hello.md"]);
  renameSync(join(home, "mounted"), join(home, "elsewhere"));
  mkdirSync(join(home, "mounted"));
  expect((await synced(id)).problem).toBe("There is nothing at its location.");
  expect((await documentsOf(base)).map((one) => one.id)).toEqual([documentId]);
  expect(await counts(base)).toEqual([0, 0]);
  rmSync(join(home, "mounted"), { recursive: true });
  renameSync(join(home, "elsewhere"), join(home, "mounted"));
  await admin.request("POST", `/v1/admin/kb-connectors/${id}/sync`, {});
  await until(
    () => counts(base),
    ([all]) => all === 1,
  );
  expect((await documentsOf(base)).map((one) => one.id)).toEqual([documentId]);
});

test("a Git repository's committed files are imported, without symbolic links", async () => {
  const base = await baseOf("repository");
  put("repo/docs/guide.md", "The violin is in the cupboard.");
  put("repo/permissions.json", JSON.stringify({ docs: ["staff"] }));
  symlinkSync("/etc/passwd", join(home, "repo/passwd.txt"));
  git("init", "-q");
  git("add", "-A");
  git("commit", "-qm", "first");
  put("repo/docs/draft.md", "Not committed.");
  const { id } = await connect(base, "git", "repo");
  await ready(base, ["docs/guide.md"]);
  expect(await counts(base)).toEqual([1, 0]);
  git("add", "-A");
  git("commit", "-qm", "second");
  await synced(id);
  await ready(base, ["docs/draft.md", "docs/guide.md"]);
});

test("a connector cannot reach outside the tenant's folder, and reports the reason", async () => {
  const base = await baseOf("outside");
  for (const location of ["../other", "/etc", "a/../../b"])
    expect(
      (
        await admin.request("POST", "/v1/admin/kb-connectors", {
          ...tenant,
          name: location,
          knowledge_base_id: base,
          connector_type: "directory",
          location,
        })
      ).status,
    ).toBe(400);
  symlinkSync(root, join(home, "up"));
  for (const [type, location, problem] of [
    ["directory", "up", "There is nothing at its location."],
    ["directory", "missing", "There is nothing at its location."],
    ["git", "wiki", "It is no Git repository that can be read."],
  ] as const) {
    const { id } = await connect(base, type, location);
    expect(
      (
        await until(
          () => admin.get(`/v1/admin/kb-connectors/${id}`),
          ({ problem: found }) => found !== null,
        )
      ).problem,
    ).toBe(problem);
    await admin.request("DELETE", `/v1/admin/kb-connectors/${id}`);
  }
  expect(await documentsOf(base)).toEqual([]);
});
