import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startGateway } from "../../support/gateway.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import { until } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";

/** Unreadable files block neither other files nor the removal of permissions. */
const root = mkdtempSync(join(tmpdir(), "knowledge-in-the-way-"));
const home = join(root, "default");
const tenant = { tenant_id: "default" };
let world: World;
let bucket: ReturnType<typeof startBucket>;

/** A bucket that checks no signatures and denies access to some of its objects. */
function startBucket() {
  const objects = new Map<string, string>();
  const archived = new Set<string>();
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      const { pathname, searchParams } = new URL(request.url);
      const key = decodeURIComponent(pathname).replace(/^\/company\/?/, "");
      if (archived.has(key))
        return new Response("<Error><Code>InvalidObjectState</Code><Message>archived</Message></Error>", {
          status: 403,
          headers: { "content-type": "application/xml" },
        });
      if (key !== "") return new Response(objects.get(key) ?? null, { status: objects.has(key) ? 200 : 404 });
      const listed = [...objects.keys()].filter((one) => one.startsWith(searchParams.get("prefix") ?? "")).toSorted();
      const contents = listed.map((one) => `<Contents><Key>${one}</Key><Size>${objects.get(one)?.length}</Size></Contents>`).join("");
      return new Response(
        `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult><Name>company</Name><KeyCount>${listed.length}</KeyCount><IsTruncated>false</IsTruncated>${contents}</ListBucketResult>`,
        { headers: { "content-type": "application/xml" } },
      );
    },
  });
  return { objects, archived, endpoint: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) };
}

beforeAll(async () => {
  mkdirSync(home);
  bucket = startBucket();
  world = await startWorld({
    GW_KNOWLEDGE_DIR: root,
    GW_KNOWLEDGE_URL: "s3://company",
    AWS_ENDPOINT_URL_S3: bucket.endpoint,
    AWS_ACCESS_KEY_ID: "AKIDEXAMPLE1",
    AWS_SECRET_ACCESS_KEY: "secret",
  });
});
beforeEach(() => {
  bucket.objects.clear();
  bucket.archived.clear();
});
afterAll(async () => {
  await world.end();
  await bucket.stop();
  rmSync(root, { recursive: true });
});

async function connected(connector_type: string, location: string) {
  const { admin } = world;
  const { id: base } = await admin.post("/v1/admin/knowledgebases", { ...tenant, name: location });
  const wanted = { ...tenant, name: location, knowledge_base_id: base, connector_type, location };
  const { id } = await admin.post("/v1/admin/kb-connectors", wanted);
  const looked = async (before: string) => {
    for (const deadline = Date.now() + PATIENCE_MS; ;) {
      const connector = await admin.get(`/v1/admin/kb-connectors/${id}`);
      const said = JSON.stringify([connector.synced_at, connector.problem]);
      if (said !== before) return { said, problem: connector.problem as string | null, skipped: connector.skipped as string[] };
      if (Date.now() > deadline) throw new Error(`the connector stays ${said}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const again = async (before: string) => {
    await admin.request("POST", `/v1/admin/kb-connectors/${id}/sync`, {});
    return looked(before);
  };
  const readers = async () =>
    Object.fromEntries(
      (await admin.get(`/v1/admin/knowledgebases/${base}/documents?page_size=200`)).documents.map(({ name, permissions }: any) => [
        name,
        permissions.identities,
      ]),
    );
  return { first: await looked("[null,null]"), again, readers };
}

test("files with a name in invalid UTF-8 or with control or bidirectional characters are skipped and listed", async () => {
  mkdirSync(join(home, "names"));
  writeFileSync(join(home, "names/permissions.json"), '{"":["*"]}');
  for (const name of ["a.txt", "turned\u202Etxt.txt", "two\nlines.txt", "z.txt"]) writeFileSync(join(home, "names", name), name);
  writeFileSync(Buffer.concat([Buffer.from(join(home, "names/caf")), Buffer.from([0xe9]), Buffer.from(".txt")]), "of another time");
  const { first, readers } = await connected("directory", "names");
  expect([first.problem, await readers()]).toEqual([null, { "a.txt": ["*"], "z.txt": ["*"] }]);
  expect(first.skipped.toSorted()).toEqual([
    "caf\uFFFD.txt: could not be read",
    "turned\u202Etxt.txt: has control characters in its path, or turns the direction of text around",
    "two\nlines.txt: has control characters in its path, or turns the direction of text around",
  ]);
});

test("a permissions file that is too large makes the documents readable for nobody", async () => {
  mkdirSync(join(home, "large"));
  writeFileSync(join(home, "large/permissions.json"), '{"":["*"]}');
  writeFileSync(join(home, "large/a.txt"), "a");
  const { first, again, readers } = await connected("directory", "large");
  expect(await readers()).toEqual({ "a.txt": ["*"] });
  truncateSync(join(home, "large/permissions.json"), 10 * 1024 ** 3);
  expect((await again(first.said)).problem).toContain("nobody finds its documents");
  expect(await readers()).toEqual({ "a.txt": [] });
});

test("an object that cannot be read is kept and listed with its current permissions; a deleted one is removed", async () => {
  const object = (name: string, text: string) => bucket.objects.set(`default/archive/${name}`, text);
  object("permissions.json", '{"":["*"]}');
  for (const name of ["a.txt", "b.txt", "c.txt"]) object(name, name);
  const { first, again, readers } = await connected("s3", "archive");
  expect([first.problem, await readers()]).toEqual([null, { "a.txt": ["*"], "b.txt": ["*"], "c.txt": ["*"] }]);
  object("permissions.json", '{"":["staff"]}');
  bucket.archived.add("default/archive/a.txt");
  bucket.objects.delete("default/archive/c.txt");
  const second = await again(first.said);
  expect([second.problem, second.skipped]).toEqual([null, ["a.txt: The bucket could not be read: InvalidObjectState."]]);
  expect(await readers()).toEqual({ "a.txt": ["staff"], "b.txt": ["staff"] });
});

test("a withdrawn permission takes effect although no file of the source can be read any more", async () => {
  const object = (name: string, text: string) => bucket.objects.set(`default/closed/${name}`, text);
  object("permissions.json", '{"":["*"]}');
  const names = Array.from({ length: 22 }, (_, i) => `${i + 10}.txt`);
  for (const name of names) object(name, name);
  const { first, again, readers } = await connected("s3", "closed");
  expect(await readers()).toEqual(Object.fromEntries(names.map((name) => [name, ["*"]])));
  object("permissions.json", '{"":["staff"]}');
  for (const name of names) bucket.archived.add(`default/closed/${name}`);
  expect((await again(first.said)).problem).toBe("The bucket could not be read: InvalidObjectState.");
  expect(await readers()).toEqual(Object.fromEntries(names.map((name) => [name, ["staff"]])));
});

test("unresponsive repositories delay neither other tenants nor a shutdown, and are tried again after a restart", async () => {
  const { admin } = world;
  let asked = 0;
  const silent = Bun.serve({ hostname: "127.0.0.1", port: 0, idleTimeout: 0, fetch: () => new Promise<Response>(() => void asked++) });
  const { id: base } = await admin.post("/v1/admin/knowledgebases", { ...tenant, name: "silent" });
  const location = (name: string) => `http://127.0.0.1:${silent.port}/${name}.git`;
  for (const name of "abcdefgh")
    await admin.post("/v1/admin/kb-connectors", {
      ...{ ...tenant, name, knowledge_base_id: base, connector_type: "git" },
      location: location(name),
    });
  await until(() => asked > 0);

  mkdirSync(join(root, "beside/files"), { recursive: true });
  writeFileSync(join(root, "beside/files/permissions.json"), "{}");
  await admin.post("/v1/admin/tenants", { id: "beside", name: "Beside" });
  const other = { tenant_id: "beside", name: "beside" };
  const { id: theirs } = await admin.post("/v1/admin/knowledgebases", other);
  const wanted = { ...other, knowledge_base_id: theirs, connector_type: "directory", location: "files" };
  const { id } = await admin.post("/v1/admin/kb-connectors", wanted);
  const synced = async () => (await admin.get(`/v1/admin/kb-connectors/${id}?tenant_id=beside`)).synced_at;
  await until(synced);
  expect(asked).toBe(1);

  await world.gateway.stop();
  expect(asked).toBe(1);
  const again = await startGateway({ databaseUrl: world.databaseUrl, dataDir: world.gateway.dataDir, env: { GW_KNOWLEDGE_DIR: root } });
  await until(() => asked > 1);
  await again.stop();
  await silent.stop(true);
});
