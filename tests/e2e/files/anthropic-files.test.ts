import { afterAll, beforeAll, expect, test } from "bun:test";
import Anthropic, { toFile } from "@anthropic-ai/sdk";
import { rowOf, serveModels, type Served } from "../../support/worlds/admin.ts";
import { startWorld, type World } from "../../support/world.ts";
import { newTeam } from "../tools/mcp-harness.ts";

/** Files stored and read with Anthropic's own client. */

let world: World;
let served: Served;
let client: Anthropic;
let stranger: Anthropic;

beforeAll(async () => {
  world = await startWorld();
  served = await serveModels(world.admin, world.upstream.baseUrl, ["fake-1"]);
  client = clientWith(served.apiKey);
  stranger = clientWith((await newTeam(world.admin, "strangers")).apiKey);
});
afterAll(() => world.end());

const clientWith = (apiKey: string) => new Anthropic({ apiKey, baseURL: world.gateway.runtimeUrl, maxRetries: 0 });
const store = async (name: string, words: string) =>
  client.beta.files.upload({ file: await toFile(Buffer.from(words), name, { type: "text/plain" }) });
const statusOf = (error: unknown) => (error as InstanceType<typeof Anthropic.APIError>).status;
const raw = (path: string, init: RequestInit = {}) =>
  fetch(`${world.gateway.runtimeUrl}${path}`, {
    ...init,
    headers: { "x-api-key": served.apiKey, "anthropic-version": "2023-06-01", ...init.headers },
  });

test("a file is uploaded, read, referenced in a message and deleted", async () => {
  const { data: file, response } = await client.beta.files
    .upload({ file: await toFile(Buffer.from("Dear all"), "letter.txt"), expires_in_seconds: 3_600 })
    .withResponse();
  expect(file).toMatchObject({ type: "file", filename: "letter.txt", mime_type: "text/plain", size_bytes: 8, downloadable: true });
  expect(Date.parse(file.expires_at ?? "") - Date.parse(file.created_at)).toBe(3_600_000);
  expect(await rowOf(world.admin, { id: response.headers.get("x-request-id") })).toMatchObject({
    proxy_subtype: "file_upload",
    endpoint: "/v1/files",
    custom_metadata: { file: { id: file.id } },
  });
  expect(await client.beta.files.retrieveMetadata(file.id)).toEqual(file);
  expect(await (await client.beta.files.download(file.id)).text()).toBe("Dear all");

  await client.beta.messages.create({
    model: "fake-1",
    max_tokens: 20,
    betas: ["files-api-2025-04-14"],
    messages: [{ role: "user", content: [{ type: "document", source: { type: "file", file_id: file.id } }] }],
  });
  expect(world.upstream.seen.at(-1)?.body).toContain("Dear all");

  expect(await client.beta.files.delete(file.id)).toEqual({ id: file.id, type: "file_deleted" });
  expect(await client.beta.files.retrieveMetadata(file.id).catch(statusOf)).toBe(404);
});

test("files are listed newest first with the pagination of newer and older clients, and by their IDs", async () => {
  const ids: string[] = [];
  for (const name of ["one", "two", "three", "four", "five"]) ids.unshift((await store(`${name}.txt`, name)).id);
  const turned: string[] = [];
  for await (const { id } of client.beta.files.list({ limit: 2 })) turned.push(id);
  expect(turned).toEqual(ids);

  const page = async (query: string) => {
    const { data, ...rest } = (await (await raw(`/v1/files?${query}`)).json()) as any;
    return { ids: data.map(({ id }: { id: string }) => id), more: rest.has_more, first: rest.first_id, last: rest.last_id };
  };
  expect(await page(`limit=2&after_id=${ids[1]}`)).toEqual({ ids: ids.slice(2, 4), more: true, first: ids[2], last: ids[3] });
  expect(await page(`limit=2&before_id=${ids[3]}`)).toEqual({ ids: ids.slice(1, 3), more: true, first: ids[1], last: ids[2] });
  expect(await page(`limit=9&before_id=${ids[3]}`)).toMatchObject({ ids: ids.slice(0, 3), more: false });

  const gone = "file-01M8JFJRKD2DK7ZE9BDFFG18S8";
  const named = await client.beta.files.list({ ids: [ids[4] ?? "", gone, ids[0] ?? "", ids[0] ?? ""] });
  expect([named.data.map(({ id }) => id), named.next_page]).toEqual([[ids[0] as string, ids[4] as string], null]);
});

test("a file of another group is not found on any route", async () => {
  const { id } = await store("secret.txt", "secret");
  const messages = [{ role: "user" as const, content: [{ type: "document" as const, source: { type: "file" as const, file_id: id } }] }];
  expect([
    await stranger.beta.files.retrieveMetadata(id).catch(statusOf),
    await stranger.beta.files.download(id).catch(statusOf),
    await stranger.beta.files.delete(id).catch(statusOf),
    await clientWith((await newTeam(world.admin, "others", { parent_group_id: served.groupId })).apiKey)
      .beta.files.retrieveMetadata(id)
      .catch(statusOf),
    (await stranger.beta.files.list()).data,
    (await stranger.beta.files.list({ ids: [id] })).data,
    await stranger.beta.messages.create({ model: "fake-1", max_tokens: 20, messages }).catch(statusOf),
  ]).toEqual([404, 404, 404, 404, [], [], 404]);
  expect(await (await client.beta.files.download(id)).text()).toBe("secret");
});

test("an invalid request is refused in Anthropic's error format, naming the parameter", async () => {
  const form = new FormData();
  form.set("file", new Blob(["x"]), "x.txt");
  form.set("expires_in_seconds", "60");
  const ofOpenai = new FormData();
  ofOpenai.set("file", new Blob(["x"]), "x.txt");
  ofOpenai.set("purpose", "user_data");
  const ids = Array.from({ length: 101 }, (_, n) => `ids[]=file-${n}`).join("&");
  for (const [response, field] of [
    [await raw("/v1/files", { method: "POST", body: form }), "expires_in_seconds"],
    [await raw("/v1/files", { method: "POST", body: ofOpenai }), "/v1/proxy/llm"],
    [await raw("/v1/files?limit=0"), "limit"],
    [await raw("/v1/files?scope=all"), "scope"],
    [await raw(`/v1/files?${ids}`), "ids"],
    [await raw("/v1/files?ids[]=a%00b"), "ids"],
  ] as const)
    expect([response.status, await response.json()]).toEqual([
      400,
      expect.objectContaining({
        type: "error",
        error: expect.objectContaining({ type: "invalid_request_error", message: expect.stringContaining(field) }),
      }),
    ]);
});
