import { afterAll, beforeAll, expect, test } from "bun:test";
import type { AdminClient } from "../../support/worlds/admin.ts";
import { until } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";

/** Buckets that give inconsistent answers. */
const FOLDER = "sources/default/";
const objects = new Map<string, string>();
const reads: string[] = [];
let onRead: (path: string) => void = () => undefined;
/** How many times each object is listed, page after page. */
let listedTimes = 1;
/** Announces another page and then lists nothing on it. */
let breaksOff = false;
let world: World;
let admin: AdminClient;

const page = (keys: readonly string[], more: boolean) =>
  new Response(
    `<?xml version="1.0"?><ListBucketResult><Name>company</Name><IsTruncated>${more}</IsTruncated>${keys
      .map((key) => `<Contents><Key>${key}</Key><Size>${objects.get(key)?.length ?? 0}</Size></Contents>`)
      .join("")}</ListBucketResult>`,
    { headers: { "content-type": "application/xml" } },
  );
let pages = 0;
const store = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch(request) {
    const { pathname, searchParams } = new URL(request.url);
    if (searchParams.has("list-type")) {
      const prefix = searchParams.get("prefix") ?? "";
      const keys = [...objects.keys()].filter((key) => key.startsWith(prefix)).toSorted();
      if (!breaksOff) return page(keys, ++pages % listedTimes !== 0);
      return searchParams.has("start-after") ? page([], true) : page(keys.slice(0, 1), true);
    }
    const key = decodeURIComponent(pathname.replace(/^\/company\//, ""));
    const said = objects.get(key);
    if (request.method === "GET" || request.method === "HEAD") {
      reads.push(key.slice(FOLDER.length));
      onRead(key.slice(FOLDER.length));
    }
    return said === undefined
      ? new Response(`<Error><Code>NoSuchKey</Code></Error>`, { status: 404, headers: { "content-type": "application/xml" } })
      : new Response(said);
  },
});

beforeAll(async () => {
  world = await startWorld({
    GW_KNOWLEDGE_URL: "s3://company/sources",
    AWS_ACCESS_KEY_ID: "AKIDEXAMPLE1",
    AWS_SECRET_ACCESS_KEY: "secret",
    AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${store.port}`,
  });
  ({ admin } = world);
});
afterAll(async () => {
  await world.end();
  await store.stop(true);
});

async function connected(location: string) {
  const base = (await admin.post("/v1/admin/knowledgebases", { tenant_id: "default", name: location })).id as string;
  const made = { tenant_id: "default", name: location, knowledge_base_id: base, connector_type: "s3", location };
  const { id } = await admin.post("/v1/admin/kb-connectors", made);
  const looked = () =>
    until(
      () => admin.get(`/v1/admin/kb-connectors/${id}`),
      ({ synced_at: at, problem }) => at !== null || problem !== null,
    );
  const documents = async (): Promise<any[]> => (await admin.get(`/v1/admin/knowledgebases/${base}/documents`)).documents;
  return { id, looked, documents };
}
const put = (path: string, text: string) => objects.set(`${FOLDER}${path}`, text);

test("a file listed a thousand times is read once", async () => {
  put("again/permissions.json", `{"": ["*"]}`);
  put("again/page.txt", "The violin is in the cupboard.");
  listedTimes = 1_000;
  const { looked, documents } = await connected("again");
  expect((await looked()).problem).toBeNull();
  listedTimes = 1;
  expect(reads.filter((path) => path === "again/page.txt")).toHaveLength(1);
  expect((await documents()).map(({ name }) => name)).toEqual(["page.txt"]);
});

test("a permission withdrawn while files are read applies to the files read then", async () => {
  put("changing/permissions.json", `{"": ["*"]}`);
  for (const name of ["early", "late"]) put(`changing/${name}.txt`, `What is in ${name}.`);
  onRead = (path) => {
    if (path === "changing/late.txt") put("changing/permissions.json", `{"early.txt": ["*"], "late.txt": ["staff"]}`);
  };
  const { looked, documents } = await connected("changing");
  await looked();
  expect((await documents()).map(({ name, permissions }) => [name, permissions.identities])).toEqual([
    ["early.txt", ["*"]],
    ["late.txt", ["staff"]],
  ]);
});

test("an incomplete listing removes no document", async () => {
  put("broken/permissions.json", `{"": ["*"]}`);
  for (const name of ["one", "two"]) put(`broken/${name}.txt`, `What is in ${name}.`);
  const { id, looked, documents } = await connected("broken");
  await looked();
  expect(await documents()).toHaveLength(2);
  breaksOff = true;
  await admin.request("POST", `/v1/admin/kb-connectors/${id}/sync`, {});
  const { problem } = await until(
    () => admin.get(`/v1/admin/kb-connectors/${id}`),
    (one) => one.problem !== null,
  );
  breaksOff = false;
  expect(problem).toBe("The bucket could not be read.");
  expect(await documents()).toHaveLength(2);
});
