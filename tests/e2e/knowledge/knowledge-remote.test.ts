import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { AdminClient } from "../../support/worlds/admin.ts";
import { type GitServer, startGitServer } from "../../support/processes/git-server.ts";
import { until } from "../../support/until.ts";
import { newPerson, type PortalClient } from "../../support/worlds/portal.ts";
import { startWorld, type World } from "../../support/world.ts";
import { newTeam } from "../tools/mcp-harness.ts";

/** Documents imported from other machines: Git's own server, and a third-party object store. */
const CREDENTIAL = "reader:open-sesame-17";
const PYTHON = process.env.S3_PYTHON;
const folder = mkdtempSync(join(tmpdir(), "knowledge-remote-"));
/** The gateway's folder for temporary files. */
const scratch = mkdtempSync(join(tmpdir(), "knowledge-scratch-"));
const tenant = { tenant_id: "default" };
let world: World;
let admin: AdminClient;
let server: GitServer;
let groupId = "";
let store: { readonly endpoint: string; stop(): Promise<void> } | null = null;
let ada: PortalClient & { readonly id: string };
let bob: PortalClient & { readonly id: string };

async function startStore(python: string) {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as { port: number };
  probe.close();
  const endpoint = `http://127.0.0.1:${port}`;
  const moto = spawn(python, ["-m", "moto.server", "-H", "127.0.0.1", "-p", String(port)], { stdio: "ignore" });
  const made = () =>
    fetch(`${endpoint}/company`, { method: "PUT" }).then(
      ({ ok }) => ok,
      () => false,
    );
  await until(made);
  return {
    endpoint,
    async stop() {
      moto.kill();
      await once(moto, "exit");
    },
  };
}

const put = (path: string, text: string) => {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
};
const git = (...args: string[]) => {
  const done = spawnSync("git", ["-c", "user.name=x", "-c", "user.email=x@example.com", ...args], {
    cwd: join(folder, "repo"),
    encoding: "utf8",
  });
  expect([done.status, done.stderr]).toEqual([0, done.stderr]);
};

beforeAll(async () => {
  server = await startGitServer(folder, CREDENTIAL);
  if (PYTHON !== undefined) store = await startStore(PYTHON);
  const bucket = { GW_KNOWLEDGE_URL: "s3://company/sources", AWS_ACCESS_KEY_ID: "AKIDEXAMPLE1", AWS_SECRET_ACCESS_KEY: "secret" };
  world = await startWorld(store === null ? { TMPDIR: scratch } : { TMPDIR: scratch, ...bucket, AWS_ENDPOINT_URL_S3: store.endpoint });
  ({ admin } = world);
  ({ groupId } = await newTeam(admin, "readers"));
  [ada, bob] = [await newPerson(world.gateway.runtimeUrl, "ada"), await newPerson(world.gateway.runtimeUrl, "bob")];
  const members = await admin.post("/v1/admin/end-user-groups", { name: "readers", initial_member_ids: [ada.id, bob.id] });
  await admin.post(`/v1/admin/end-user-groups/${members.id}/resource-groups`, { resource_group_ids: [groupId] });
  for (const connector_type of ["s3", "git"])
    await admin.post("/v1/admin/kb-identities", { ...tenant, end_user_id: ada.id, connector_type, source_identity: "staff" });
});
afterAll(async () => {
  await world.end();
  await server.stop();
  await store?.stop();
  for (const made of [folder, scratch]) rmSync(made, { recursive: true });
});

const baseOf = async (name: string) =>
  (await admin.post("/v1/admin/knowledgebases", { ...tenant, name, group_ids: [groupId] })).id as string;
const made = (knowledge_base_id: string, connector_type: string, location: string, more: object = {}) => ({
  ...{ ...tenant, name: crypto.randomUUID(), knowledge_base_id, connector_type, location },
  ...more,
});
const connect = (base: string, type: string, location: string, more: object = {}) =>
  admin.post("/v1/admin/kb-connectors", made(base, type, location, more));

const documents = async (base: string) =>
  ((await admin.get(`/v1/admin/knowledgebases/${base}/documents`)).documents as any[]).map(({ name, status }) => `${name} ${status}`);
const ready = (base: string, names: readonly string[]) =>
  until(
    () => documents(base),
    (found) => JSON.stringify(found) === JSON.stringify(names.map((name) => `${name} ready`)),
  );
async function syncNow(id: string): Promise<string | null> {
  const { synced_at: before } = await admin.get(`/v1/admin/kb-connectors/${id}`);
  await admin.request("POST", `/v1/admin/kb-connectors/${id}/sync`, {});
  const after = await until(
    () => admin.get(`/v1/admin/kb-connectors/${id}`),
    ({ synced_at, problem }) => synced_at !== before || problem !== null,
  );
  return after.problem;
}
const problemOf = async (id: string) =>
  (
    await until(
      () => admin.get(`/v1/admin/kb-connectors/${id}`),
      ({ problem }) => problem !== null,
    )
  ).problem as string;
const counts = (base: string) =>
  Promise.all([ada, bob].map(async (who) => (await who.request("GET", `/knowledgebases/${base}`)).body.document_count as number));

describe("a connector to a remote Git repository", () => {
  let id = "";
  let base = "";

  test("imports with its credential, with each file's permissions, and again when the repository changed", async () => {
    base = await baseOf("repository");
    put("repo/docs/guide.md", "The violin is in the cupboard.");
    put("repo/large.txt", "A harbour.\n\n".repeat(20_000));
    put("repo/permissions.json", JSON.stringify({ docs: ["staff"], "large.txt": ["*"] }));
    symlinkSync("/etc/passwd", join(folder, "repo/passwd.txt"));
    git("init", "-q");
    git("add", "-A");
    git("commit", "-qm", "first");
    const connector = await connect(base, "git", server.address("repo/.git"), { credential: CREDENTIAL });
    ({ id } = connector);
    expect(connector).toMatchObject({ has_credential: true });
    expect(JSON.stringify(connector)).not.toContain("open-sesame");
    await ready(base, ["docs/guide.md", "large.txt"]);
    expect(await counts(base)).toEqual([2, 1]);
    put("repo/docs/second.md", "The zeppelin lands at noon.");
    rmSync(join(folder, "repo/large.txt"));
    git("add", "-A");
    git("commit", "-qm", "second");
    // Folders of gateways that were killed, one of them recently.
    const [old, late] = ["gatehouse-git-old", "gatehouse-git-late"].map((name) => join(scratch, name)) as [string, string];
    for (const place of [old, late]) mkdirSync(join(place, "objects"), { recursive: true });
    utimesSync(old, 0, Date.now() / 1000 - 2 * 24 * 3600);
    expect(await syncNow(id)).toBeNull();
    await ready(base, ["docs/guide.md", "docs/second.md"]);
    const { passages } = await admin.post(`/v1/admin/knowledgebases/${base}/search`, { query: "zeppelin", end_user_id: ada.id });
    expect(passages[0].text).toBe("The zeppelin lands at noon.");
    expect(readdirSync(scratch).filter((name) => name.startsWith("gatehouse-git-"))).toEqual(["gatehouse-git-late"]);
  });

  test("does not send its credential to another address, and reports problems without it", async () => {
    const elsewhere = await admin.request("PATCH", `/v1/admin/kb-connectors/${id}`, { location: server.address("other") });
    expect([elsewhere.status, JSON.stringify(elsewhere.body)]).toEqual([400, expect.stringContaining("credential")]);
    const away = await admin.request("PATCH", `/v1/admin/kb-connectors/${id}`, { credential: "reader:wrong" });
    expect(away.status).toBe(200);
    expect(await problemOf(id)).toBe("It asks for a credential, or does not take the one it was shown.");
    // Imported documents are not removed just because the source is unreachable.
    expect(await documents(base)).toHaveLength(2);
    const problems: Record<string, string> = {
      "missing.git": "There is no repository at its address, or none for this credential.",
      moved: "It is at another address now: it is not followed there.",
      busy: "It is asked too often, and wants to be left alone for a while.",
      nonsense: "It could not be reached, or what it answers is nothing of Git.",
      "late/repo/.git": "It is asked too often, and wants to be left alone for a while.",
      "torn/repo/.git": "It could not pack its files.",
    };
    for (const [name, problem] of Object.entries(problems)) {
      const { id: other } = await connect(base, "git", server.address(name), { credential: CREDENTIAL });
      expect(await problemOf(other)).toBe(problem);
      await admin.request("DELETE", `/v1/admin/kb-connectors/${other}`);
    }
    expect(world.gateway.output()).not.toContain("open-sesame");
    expect(server.asked.filter(({ path }) => path.startsWith("/repo")).every(({ authorization }) => authorization !== undefined)).toBe(
      true,
    );
  });

  test.each([
    ["a password in its URL", "git", "https://reader:secret@git.example/x.git", {}, "location"],
    ["a URL without TLS", "git", "http://git.example/x.git", {}, "location"],
    ["a URL for a directory", "directory", "https://git.example/x", {}, "location"],
    ["a credential for a local folder", "git", "mirror", { credential: "x" }, "credential"],
  ])("with %s is refused, naming the field", async (_what, type, location, more, field) => {
    const { status, body } = await admin.request("POST", "/v1/admin/kb-connectors", made(base, type, location, more));
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining(field)]);
  });
});

test("a private address is not called where private upstreams are off", async () => {
  const guarded = await startWorld({ GW_ALLOW_PRIVATE_UPSTREAMS: "off" });
  try {
    const { id: base } = await guarded.admin.post("/v1/admin/knowledgebases", { ...tenant, name: "guarded" });
    const before = server.asked.length;
    const { id } = await guarded.admin.post("/v1/admin/kb-connectors", made(base, "git", server.address("repo/.git")));
    const { problem } = await until(
      () => guarded.admin.get(`/v1/admin/kb-connectors/${id}`),
      ({ problem: found }) => found !== null,
    );
    expect([problem, server.asked.length]).toEqual(["Its address is in a private range, which this gateway does not call.", before]);
  } finally {
    await guarded.end();
  }
});

if (PYTHON === undefined)
  console.log("The bucket is left out: S3_PYTHON names no Python that has moto (pip install -r tests/s3-server.txt).");
else
  test("a bucket's folder is imported, updated and removed, without objects of other folders or tenants", async () => {
    const { S3Client } = await import("bun");
    const keys = { accessKeyId: "AKIDEXAMPLE1", secretAccessKey: "secret" };
    const bucket = new S3Client({ bucket: "company", endpoint: store?.endpoint ?? "", region: "us-east-1", ...keys });
    const object = (key: string, body: string) => bucket.write(`sources/${key}`, body);
    await object("default/wiki/permissions.json", JSON.stringify({ open: ["*"], "staff only": ["staff"] }));
    await object("default/wiki/open/hello.md", "# Hello\n\nEverybody reads this.");
    await object("default/wiki/staff only/plan été.txt", "Only staff read this.");
    await object("default/wiki/.hidden.txt", "x");
    await object("default/wikipedia/page.txt", "Of another folder.");
    await object("others/wiki/secret.txt", "Of another tenant.");
    const base = await baseOf("bucket");
    const { id } = await connect(base, "s3", "wiki");
    await ready(base, ["open/hello.md", "staff only/plan été.txt"]);
    expect(await counts(base)).toEqual([2, 1]);
    await bucket.delete("sources/default/wiki/open/hello.md");
    await object("default/wiki/permissions.json", JSON.stringify({ "": ["*"] }));
    expect(await syncNow(id)).toBeNull();
    await ready(base, ["staff only/plan été.txt"]);
    expect(await counts(base)).toEqual([1, 1]);
    const { id: empty } = await connect(base, "s3", "nothing");
    expect(await problemOf(empty)).toBe("There is nothing at its location.");
  });
