import { afterAll, beforeAll, expect, test } from "bun:test";
import { type ApiError, createPartFromUri, GoogleGenAI } from "@google/genai";
import { rowsOf, serveModels, type Served } from "../../support/worlds/admin.ts";
import { nothingStored, storedBytes } from "../../support/records/stored-bytes.ts";
import { until } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";
import { newTeam } from "../tools/mcp-harness.ts";

/** Files uploaded, named and read with Google's own client. */

let world: World;
let served: Served;
let client: GoogleGenAI;
let stranger: GoogleGenAI;

beforeAll(async () => {
  world = await startWorld();
  served = await serveModels(world.admin, world.upstream.baseUrl, ["fake-1"]);
  client = clientWith(served.apiKey);
  stranger = clientWith((await newTeam(world.admin, "strangers")).apiKey);
});
afterAll(() => world.end());

const clientWith = (apiKey: string, apiVersion?: string) =>
  new GoogleGenAI({ apiKey, httpOptions: { baseUrl: world.gateway.runtimeUrl }, ...(apiVersion === undefined ? {} : { apiVersion }) });
const statusOf = (error: unknown) => (error as ApiError).status;
const words = (text: string, type = "text/plain") => new Blob([text], { type });
const raw = (path: string, headers: Record<string, string>, body: BodyInit = "", apiKey = served.apiKey) =>
  fetch(new URL(path, world.gateway.runtimeUrl), { method: "POST", headers: { "x-goog-api-key": apiKey, ...headers }, body });

/** The upload address for a file with an announced size in bytes. */
async function begun(bytes: number, apiKey = served.apiKey): Promise<string> {
  const start = { "x-goog-upload-command": "start", "x-goog-upload-header-content-length": String(bytes) };
  const answer = await raw("/upload/v1beta/files", { "x-goog-upload-protocol": "resumable", ...start }, "", apiKey);
  expect([answer.status, answer.headers.get("x-goog-upload-status")]).toEqual([200, "active"]);
  return answer.headers.get("x-goog-upload-url") as string;
}
const piece = (url: string, command: string, offset: number, body: BodyInit = "", apiKey = served.apiKey) =>
  raw(url, { "x-goog-upload-command": command, "x-goog-upload-offset": String(offset) }, body, apiKey);
const problemOf = async (answer: Response) => [answer.status, ((await answer.json()) as any).error.message];

test.each([undefined, "v1beta"])("a file is uploaded, referenced in a message, read and deleted (version %p)", async (version) => {
  const ai = clientWith(served.apiKey, version);
  const file = await ai.files.upload({ file: words("Dear all"), config: { displayName: "letter.txt" } });
  expect(file).toMatchObject({ displayName: "letter.txt", mimeType: "text/plain", sizeBytes: "8", state: "ACTIVE" });
  expect(await ai.files.get({ name: file.name as string })).toMatchObject({ ...file });
  const bytes = await fetch(`${world.gateway.runtimeUrl}/${version ?? "v1"}/${file.name}:download?alt=media`, {
    headers: { "x-goog-api-key": served.apiKey },
  });
  expect(await bytes.text()).toBe("Dear all");

  await ai.models.generateContent({
    model: "fake-1",
    contents: [{ role: "user", parts: [createPartFromUri(file.uri as string, file.mimeType as string), { text: "Who is meant?" }] }],
  });
  expect(world.upstream.seen.at(-1)?.body).toContain("Dear all");
  const rows = await rowsOf(world.admin, { proxy_subtype: "file_upload", endpoint: `/upload/${version ?? "v1"}/files` }, 2);
  expect(rows.map((row) => row.custom_metadata?.file?.id).sort()).toEqual([(file.name as string).slice("files/".length), undefined]);

  await ai.files.delete({ name: file.name as string });
  expect(await ai.files.get({ name: file.name as string }).catch(statusOf)).toBe(404);
});

test("a file uploaded in several parts is complete, and its parts are deleted", async () => {
  const text = "0123456789abcdef".repeat(600_000);
  const file = await client.files.upload({ file: words(text) });
  expect(file).toMatchObject({ sizeBytes: String(text.length), sha256Hash: new Bun.CryptoHasher("sha256").update(text).digest("base64") });
  const answer = await fetch(`${world.gateway.runtimeUrl}/v1beta/${file.name}:download`, { headers: { "x-goog-api-key": served.apiKey } });
  expect((await answer.text()) === text).toBe(true);
  await until(
    () => storedBytes(world.gateway.dataDir),
    (stored) => stored.length === 1,
  );
  await client.files.delete({ name: file.name as string });
});

test("files are listed newest first, in pages", async () => {
  const names: unknown[] = [];
  for (const text of ["one", "two", "three"]) names.unshift((await client.files.upload({ file: words(text) })).name);
  const listed: unknown[] = [];
  for await (const { name } of await client.files.list({ config: { pageSize: 2 } })) listed.push(name);
  expect(listed).toEqual(names);
  for (const name of names) await client.files.delete({ name: name as string });
});

test("files and unfinished uploads of another group are not found", async () => {
  const { name, uri } = await client.files.upload({ file: words("secret") });
  const contents = [{ role: "user", parts: [createPartFromUri(uri as string, "text/plain")] }];
  const url = await begun(6);
  const { apiKey } = await newTeam(world.admin, "others");
  expect([
    await stranger.files.get({ name: name as string }).catch(statusOf),
    await stranger.files.delete({ name: name as string }).catch(statusOf),
    (await stranger.files.list()).page,
    await stranger.models.generateContent({ model: "fake-1", contents }).catch(statusOf),
    (await piece(url, "upload, finalize", 0, "stolen", apiKey)).status,
    (await piece(url, "query", 0, "", apiKey)).status,
    (await piece(url, "cancel", 0, "", apiKey)).status,
  ]).toEqual([404, 404, [], 404, 404, 404, 404]);
  expect((await piece(url, "upload, finalize", 0, "secret")).status).toBe(200);
});

test("an upload URL accepts parts without a credential while the caller who began the upload has access", async () => {
  const { admin, gateway } = world;
  const tenant = { tenant_id: "default" };
  const group = await admin.post("/v1/admin/resource-groups", { ...tenant, name: "uploaders", group_type: "team" });
  const key = await admin.post(`/v1/admin/resource-groups/${group.id}/api-keys`, { name: "uploader", access_mode: "shared" });
  const [url, other] = [await begun(6, key.key_value), await begun(6)];
  const bare = (address: string, command: string, offset: number, body = "") =>
    fetch(address, { method: "POST", headers: { "x-goog-upload-command": command, "x-goog-upload-offset": String(offset) }, body });
  expect((await bare(url, "upload", 0, "abc")).headers.get("x-goog-upload-size-received")).toBe("3");
  const token = new URL(url).searchParams.get("key") as string;
  const stolen = new URL(other);
  stolen.searchParams.set("key", token);
  const asked = [
    await bare(stolen.href, "upload, finalize", 0, "secret"),
    await bare(url.replace(/&key=.*/, ""), "query", 0),
    await bare(`${url.slice(0, -1)}${url.endsWith("A") ? "B" : "A"}`, "query", 0),
    await fetch(`${gateway.runtimeUrl}/v1beta/files?key=${token}`),
    await fetch(`${gateway.runtimeUrl}/v1beta/models?key=${token}&upload_id=${new URL(url).searchParams.get("upload_id")}`),
  ];
  expect(asked.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401]);
  const ended = await bare(url, "upload, finalize", 3, "def");
  const { file } = (await ended.json()) as any;
  const owner = clientWith(key.key_value);
  expect([await owner.files.get({ name: file.name }), await client.files.get({ name: file.name }).catch(statusOf)]).toEqual([
    expect.objectContaining({ sizeBytes: "6" }),
    404,
  ]);
  const rows = await rowsOf(admin, { proxy_subtype: "file_upload", api_key_id: key.id }, 3);
  expect(rows.map((row) => row.resource_group_id)).toEqual([group.id, group.id, group.id]);
  expect(JSON.stringify(rows)).not.toContain(token.slice(0, 20));
  await owner.files.delete({ name: file.name });
  const late = await begun(1, key.key_value);
  expect((await admin.request("DELETE", `/v1/admin/api-keys/${key.id}`)).status).toBeLessThan(300);
  await until(
    () => bare(late, "upload, finalize", 0, "x"),
    ({ status }) => status === 401,
  );
});

test("parts of an upload must arrive in order, once, and add up to the announced size", async () => {
  const url = await begun(6);
  expect((await piece(url, "upload", 0, "abc")).headers.get("x-goog-upload-size-received")).toBe("3");
  expect(await problemOf(await piece(url, "upload", 0, "abc"))).toEqual([400, expect.stringContaining("must be 3")]);
  const asked = await piece(url, "query", 0);
  expect([asked.headers.get("x-goog-upload-status"), asked.headers.get("x-goog-upload-size-received")]).toEqual(["active", "3"]);
  expect(await problemOf(await piece(url, "upload, finalize", 3, "d"))).toEqual([400, expect.stringContaining("2 of them did not come")]);
  expect(await problemOf(await piece(url, "upload, finalize", 3, "defg"))).toEqual([
    413,
    expect.stringContaining("larger than it was said"),
  ]);
  const both = await Promise.all([piece(url, "upload, finalize", 3, "def"), piece(url, "upload, finalize", 3, "xyz")]);
  const ended = both.filter(({ status }) => status === 200);
  expect(ended.map(({ headers }) => headers.get("x-goog-upload-status"))).toEqual(["final"]);
  expect(await (ended[0] as Response).json()).toMatchObject({ file: { sizeBytes: "6" } });
  expect((await piece(url, "upload, finalize", 3, "def")).status).toBe(404);
});

test("finalizing an upload that another request has continued meanwhile is refused and changes nothing", async () => {
  const url = await begun(6);
  await piece(url, "upload", 0, "abc");
  const stored = (await storedBytes(world.gateway.dataDir)).length;
  const release = Promise.withResolvers<void>();
  const slow = new ReadableStream({
    async start(controller) {
      controller.enqueue(new TextEncoder().encode("xy"));
      await release.promise;
      controller.enqueue(new TextEncoder().encode("z"));
      controller.close();
    },
  });
  const late = piece(url, "upload, finalize", 3, slow);
  await until(
    () => storedBytes(world.gateway.dataDir),
    (found) => found.length > stored,
  );
  expect((await piece(url, "upload", 3, "de")).status).toBe(200);
  release.resolve();
  expect((await late).status).toBe(404);
  const { file } = (await (await piece(url, "upload, finalize", 5, "f")).json()) as any;
  const answer = await fetch(`${world.gateway.runtimeUrl}/v1beta/${file.name}:download`, { headers: { "x-goog-api-key": served.apiKey } });
  expect(await answer.text()).toBe("abcdef");
  await client.files.delete({ name: file.name });
});

test("a cancelled upload is over and leaves nothing stored", async () => {
  const url = await begun(6);
  await piece(url, "upload", 0, "abc");
  expect((await piece(url, "cancel", 0)).headers.get("x-goog-upload-status")).toBe("cancelled");
  expect((await piece(url, "upload, finalize", 3, "def")).status).toBe(404);
  for await (const { name } of await client.files.list()) await client.files.delete({ name: name as string });
  await nothingStored(world.gateway.dataDir);
});

test("an invalid upload request is refused with the header or field named", async () => {
  const start = { "x-goog-upload-protocol": "resumable", "x-goog-upload-command": "start", "x-goog-upload-header-content-length": "3" };
  const url = await begun(3);
  for (const [answer, status, said] of [
    [await raw("/upload/v1beta/files", {}), 400, "X-Goog-Upload-Command"],
    [await raw("/upload/v1beta/files", { ...start, "x-goog-upload-protocol": "raw" }), 400, "X-Goog-Upload-Protocol"],
    [
      await raw("/upload/v1beta/files", { ...start, "x-goog-upload-header-content-length": "-1" }),
      400,
      "X-Goog-Upload-Header-Content-Length",
    ],
    [await raw("/upload/v1beta/files", { ...start, "x-goog-upload-header-content-length": "999999999999" }), 413, "256 MiB"],
    [await raw("/upload/v1beta/files", start, "{"), 400, "JSON"],
    [await raw("/upload/v1beta/files", start, '{"file":[]}'), 400, "file"],
    [await raw("/upload/v1beta/files", start, '{"file":{"name":"files/mine"}}'), 400, "file.name"],
    [await raw("/upload/v1beta/files", start, '{"file":{"displayName":7}}'), 400, "file.displayName"],
    [await raw("/upload/v1beta/files", start, "x".repeat(70_000)), 400, "65536 bytes"],
    [await piece(url, "start", 0), 400, "X-Goog-Upload-Command"],
    [await piece(url.replace(/upload_id=[^&]*/, "upload_id=01JABCDEFGHJKMNPQRSTVWXYZ0"), "upload", 0, "abc"), 404, "no such upload"],
    [await piece(url.replace(/upload_id=[^&]*/, "upload_id=a%00b"), "query", 0), 404, "no such upload"],
  ] as const)
    expect(await problemOf(answer)).toEqual([status, expect.stringContaining(said)]);
});

test("a caller with 64 unfinished uploads cannot begin another; other callers can", async () => {
  const { apiKey } = await newTeam(world.admin, "beginners");
  const start = { "x-goog-upload-protocol": "resumable", "x-goog-upload-command": "start", "x-goog-upload-header-content-length": "1" };
  const answers: number[] = [];
  for (let n = 0; n < 65; n++) answers.push((await raw("/upload/v1beta/files", start, "", apiKey)).status);
  expect([answers.filter((status) => status === 200).length, answers.at(-1)]).toEqual([64, 429]);
  expect((await client.files.upload({ file: words("x") })).sizeBytes).toBe("1");
});
