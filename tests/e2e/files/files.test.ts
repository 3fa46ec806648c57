import { createHash } from "node:crypto";
import { truncate } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "bun:test";
import OpenAI, { toFile } from "openai";
import { rowOf } from "../../support/worlds/admin.ts";
import { newPerson } from "../../support/worlds/portal.ts";
import { storedBytes } from "../../support/records/stored-bytes.ts";
import { until } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";
import { newTeam, type Team } from "../tools/mcp-harness.ts";

/** Callers' files: stored, accessed, served and deleted, and by whom. */

let world: World;
let team: Team;
let others: Team;

beforeAll(async () => {
  world = await startWorld();
  team = await newTeam(world.admin, "archive");
  others = await newTeam(world.admin, "neighbours");
});
afterAll(() => world.end());

const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");

const url = (path: string) => `${world.gateway.runtimeUrl}${path}`;
const asKey = (key: string) => ({ "x-api-key": key });

async function send(method: string, path: string, init: RequestInit = {}, key = team.apiKey) {
  const response = await fetch(url(path), { method, ...init, headers: { ...asKey(key), ...init.headers } });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: text.startsWith("{") ? JSON.parse(text) : null };
}

function form(content: Uint8Array | string, fields: Record<string, string>, name = "a file.bin"): FormData {
  const data = new FormData();
  data.set("file", new Blob([content as BlobPart]), name);
  for (const [field, value] of Object.entries(fields)) data.set(field, value);
  return data;
}

const put = (content: Uint8Array | string, fields: Record<string, string>, key = team.apiKey, name?: string) =>
  send("POST", "/v1/proxy/files", { body: form(content, fields, name) }, key);

const stored = () => storedBytes(world.gateway.dataDir);

test("a file is uploaded, described, read whole and in ranges, and deleted with its bytes", async () => {
  const made = await put(PNG, { kind: "image", chat_id: "c1", display_name: "dot.png" });
  expect(made.status).toBe(201);
  const hash = createHash("sha256").update(PNG).digest("hex");
  const { id } = made.body;
  expect(made.body).toMatchObject({
    tenant_id: "default",
    kind: "image",
    mime_type: "image/png",
    size_bytes: PNG.byteLength,
    content_hash: hash,
    chat_id: "c1",
    model_id: null,
    display_name: "dot.png",
    deleted_at: null,
    access_count: 0,
  });
  const row = await rowOf(world.admin, { id: made.headers.get("x-request-id") });
  expect(row).toMatchObject({ proxy_subtype: "file_upload", success: true, request_content_hash: hash });
  expect(row.custom_metadata.file).toMatchObject({ id, kind: "image", content_hash: hash });

  const whole = await fetch(url(`/v1/proxy/files/${id}/content`), { headers: asKey(team.apiKey) });
  expect(Buffer.from(await whole.arrayBuffer()).equals(PNG)).toBe(true);
  expect(whole.headers.get("x-content-type-options")).toBe("nosniff");
  expect(whole.headers.get("content-security-policy")).toContain("sandbox");
  const part = await fetch(url(`/v1/proxy/files/${id}/content`), { headers: { ...asKey(team.apiKey), range: "bytes=1-3" } });
  expect([part.status, await part.text(), part.headers.get("content-range")]).toEqual([206, "PNG", `bytes 1-3/${PNG.byteLength}`]);
  const last = await fetch(url(`/v1/proxy/files/${id}/content`), { headers: { ...asKey(team.apiKey), range: "bytes=-4" } });
  expect(Buffer.from(await last.arrayBuffer()).equals(PNG.subarray(-4))).toBe(true);
  expect((await send("GET", `/v1/proxy/files/${id}/content`, { headers: { range: "bytes=9999-" } })).status).toBe(416);
  const head = await fetch(url(`/v1/proxy/files/${id}/content`), { method: "HEAD", headers: asKey(team.apiKey) });
  expect([head.status, head.headers.get("content-length")]).toEqual([200, String(PNG.byteLength)]);
  expect((await send("GET", `/v1/proxy/files/${id}`)).body.access_count).toBe(3);

  expect((await send("DELETE", `/v1/proxy/files/${id}`)).body).toEqual({ id, deleted: true });
  for (const path of ["", "/url", "/content"]) expect((await send("GET", `/v1/proxy/files/${id}${path}`)).status).toBe(404);
  await until(async () => !(await stored()).includes(id));
});

test("a file truncated in the store breaks off the download instead of ending it normally", async () => {
  const { id } = (await put("x".repeat(200_000), { kind: "document" })).body;
  const path = join(world.gateway.dataDir, "files", id.slice(-2).toLowerCase(), id);
  await truncate(path, 100_000);
  const answer = await fetch(url(`/v1/proxy/files/${id}/content`), { headers: asKey(team.apiKey) });
  const read = await answer.text().catch((error: Error) => error);
  expect(read).toBeInstanceOf(Error);
  await send("DELETE", `/v1/proxy/files/${id}`);
});

test("a file is accessible to its group or person only", async () => {
  const { id } = (await put("secret plans", { kind: "document", chat_id: "shared" })).body;
  const person = await newPerson(world.gateway.runtimeUrl as string, "reader");
  for (const [method, path] of [
    ["GET", ""],
    ["GET", "/url"],
    ["GET", "/content"],
    ["DELETE", ""],
  ] as const) {
    const missing = await send(method, `/v1/proxy/files/file-00000000000000000000000000${path}`, {}, others.apiKey);
    const foreign = await send(method, `/v1/proxy/files/${id}${path}`, {}, others.apiKey);
    expect([foreign.status, foreign.text]).toEqual([404, missing.text]);
    const personal = await fetch(url(`/v1/proxy/files/${id}${path}`), { method, headers: { authorization: `Bearer ${person.token}` } });
    expect([403, 404]).toContain(personal.status);
  }
  expect((await send("DELETE", "/v1/proxy/files?chat_id=shared", {}, others.apiKey)).body).toEqual({ deleted: 0 });
  expect((await send("GET", "/v1/proxy/files?chat_id=shared", {}, others.apiKey)).body).toMatchObject({ files: [], total: 0 });
  expect((await send("GET", "/v1/proxy/files?chat_id=shared")).body).toMatchObject({ total: 1, page: 1, files: [{ id }] });
  expect((await send("GET", `/v1/proxy/files/${id}/content`)).text).toBe("secret plans");
});

test("a signed URL opens one file until it expires, and no altered URL opens any", async () => {
  const { id } = (await put("for a browser", { kind: "document" })).body;
  const other = (await put("not for a browser", { kind: "document" })).body.id;
  const signed = (await send("GET", `/v1/proxy/files/${id}/url?expires_in_secs=60`)).body;
  expect(signed).toMatchObject({ file_id: id, mime_type: "text/plain", expires_in_secs: 60 });
  const opened = await fetch(signed.url);
  expect([opened.status, await opened.text()]).toEqual([200, "for a browser"]);
  expect(opened.headers.get("content-disposition")).toStartWith("attachment");
  const row = await rowOf(world.admin, { id: opened.headers.get("x-request-id") });
  expect(row).toMatchObject({ proxy_subtype: "file_content", tenant_id: "default", resource_group_id: team.groupId, success: true });

  const refused = await fetch(signed.url.replace(id, "file-00000000000000000000000000"));
  const told = [refused.status, await refused.text()];
  expect(told[0]).toBe(404);
  const { searchParams, pathname } = new URL(signed.url);
  const signature = searchParams.get("signature") as string;
  const expires = Number(searchParams.get("expires"));
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const tampered = [
    signed.url.replace(id, other),
    ...[expires + 1, expires - 120, `0${expires}`, `${expires}.0`, "", "x"].map((to) =>
      url(`${pathname}?expires=${to}&signature=${signature}`),
    ),
    ...[...signature].slice(-4).flatMap((_, at) =>
      [...alphabet]
        .filter((to) => to !== signature.at(-1 - at))
        .map((to) => {
          const place = signature.length - 1 - at;
          return url(`${pathname}?expires=${expires}&signature=${signature.slice(0, place)}${to}${signature.slice(place + 1)}`);
        }),
    ),
    `${signed.url}&signature=${signature}`,
    `${signed.url}=`,
    url(`${pathname}?expires=${expires}`),
  ];
  for (const address of tampered) {
    const answer = await fetch(address);
    expect([address, answer.status, await answer.text()]).toEqual([address, ...told] as [string, number, string]);
  }
  await send("DELETE", `/v1/proxy/files/${id}`);
  const gone = await fetch(signed.url);
  expect([gone.status, await gone.text()]).toEqual(told as [number, string]);
});

test("a signed URL opens its file whatever credential is sent along, in the name of the file's group", async () => {
  const { id } = (await put("for a browser", { kind: "document" })).body;
  const { url: address } = (await send("GET", `/v1/proxy/files/${id}/url`)).body;
  const person = await newPerson(world.gateway.runtimeUrl as string, "onlooker");
  const unknown = `sk_gw_api_${"x".repeat(43)}`;
  const along: Record<string, string>[] = [
    {},
    asKey(others.apiKey),
    asKey(unknown),
    { authorization: "Bearer not-ours" },
    { authorization: `Bearer ${person.token}` },
  ];
  for (const headers of along) {
    const opened = await fetch(address, { headers });
    expect([headers, opened.status, await opened.text()]).toEqual([headers, 200, "for a browser"]);
    const row = await rowOf(world.admin, { id: opened.headers.get("x-request-id") });
    expect([row.resource_group_id, row.api_key_id, row.gateway_user_id]).toEqual([team.groupId, null, null]);
    expect(opened.headers.get("x-gw-run-id")).toBe(row.id);
    const named = await fetch(address, { method: "HEAD", headers: { ...headers, "x-gw-run-id": "a slide show" } });
    expect([named.status, named.headers.get("x-gw-run-id")]).toEqual([200, "a slide show"]);
  }
  // With an invalid signature, only the credential counts.
  const altered = `${address.slice(0, address.indexOf("signature="))}signature=nothing`;
  expect(
    await Promise.all([team.apiKey, others.apiKey, unknown].map(async (key) => (await fetch(altered, { headers: asKey(key) })).status)),
  ).toEqual([200, 404, 401]);
});

test("the type of a file is taken from its bytes, whatever its name", async () => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
  for (const [content, kind] of [
    ["<html><script>alert(1)</script></html>", "image"],
    [svg, "image"],
    ["just text", "audio"],
    [PNG, "batch_input"],
  ] as const) {
    const refused = await put(content, { kind }, team.apiKey, "picture.png");
    expect([refused.status, refused.body.error]).toEqual([400, expect.stringContaining(`is ${kind}, and the bytes of the file are`)]);
  }
  const kept = (await put(svg, { kind: "other" }, team.apiKey, "picture.svg")).body;
  const served = await fetch(url(`/v1/proxy/files/${kept.id}/content`), { headers: asKey(team.apiKey) });
  expect(served.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  expect(served.headers.get("content-disposition")).toStartWith("attachment");
  await served.body?.cancel();
});

test("an invalid upload is refused with the field named, and leaves nothing stored", async () => {
  const before = (await send("GET", "/v1/proxy/files")).body.total;
  const wrong: [FormData | string, RegExp][] = [
    [form("x", {}), /`kind` is required/],
    [form("x", { kind: "poem" }), /`kind` must be one of/],
    [form("x", { kind: "other", surprise: "1" }), /`surprise` is not known/],
    [form("x", { kind: "other", chat_id: "a\0b" }), /`chat_id`/],
    [new FormData(), /multipart|file/],
    ["{}", /multipart\/form-data/],
  ];
  for (const [body, told] of wrong) {
    const refused = await send("POST", "/v1/proxy/files", { body });
    expect([refused.status, refused.body.error]).toEqual([400, expect.stringMatching(told)]);
  }
  const cut = `--b\r\nContent-Disposition: form-data; name="kind"\r\n\r\nother\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\nhalf`;
  const torn = await send("POST", "/v1/proxy/files", { body: cut, headers: { "content-type": "multipart/form-data; boundary=b" } });
  expect(torn.status).toBe(400);
  const large = await put(Buffer.concat([PNG, Buffer.alloc(51 * 1024 * 1024)]), { kind: "image" });
  expect([large.status, large.body.code]).toEqual([413, "file_too_large"]);
  const { total, files } = (await send("GET", "/v1/proxy/files?page_size=200")).body;
  expect(total).toBe(before);
  const known = new Set(files.map((file: { id: string }) => file.id));
  await until(async () => (await stored()).every((name) => known.has(name)));
});

test.each([
  ["/v1/proxy/files", { kind: "document", Kind: "image" }, '"Kind" and "kind"'],
  ["/v1/proxy/files", { kind: "document", Chat_Id: "c" }, '"Chat_Id" and "chat_id"'],
  ["/v1/proxy/llm/files", { purpose: "user_data", Purpose: "batch" }, '"Purpose" and "purpose"'],
  ["/v1/files", { Expires_In_Seconds: "3600" }, '"Expires_In_Seconds" and "expires_in_seconds"'],
  ["/v1/files", { Note: "a", note: "b" }, '"note" and "Note"'],
])("an ambiguous field of an upload to %s is refused with both names: %j", async (path, fields, names) => {
  const { status, body } = await send("POST", path, { body: form("x", fields) });
  expect([status, body.code ?? body.error.code]).toEqual([400, "ambiguous_name"]);
  expect(body.error.message ?? body.error).toContain(`The names ${names} are the same`);
});

test("all files of a chat are deleted in one call", async () => {
  for (let n = 0; n < 20; n++) expect((await put(`page ${n}`, { kind: "document", chat_id: "long" })).status).toBe(201);
  expect((await send("DELETE", "/v1/proxy/files?chat_id=long")).body).toEqual({ deleted: 20 });
  expect((await send("GET", "/v1/proxy/files?chat_id=long")).body.total).toBe(0);
  expect((await send("DELETE", "/v1/proxy/files")).status).toBe(400);
});

test("OpenAI's client uploads, lists, reads and deletes files", async () => {
  const openai = new OpenAI({ baseURL: url("/v1/proxy/llm"), apiKey: others.apiKey });
  const lines = '{"custom_id":"1"}\n';
  const file = await openai.files.create({ file: await toFile(Buffer.from(lines), "lines.jsonl"), purpose: "batch" });
  expect(file).toMatchObject({ object: "file", bytes: lines.length, filename: "lines.jsonl", purpose: "batch" });
  const second = await openai.files.create({ file: await toFile(PNG, "dot.png"), purpose: "vision" });
  const ids: string[] = [];
  for await (const one of openai.files.list({ limit: 1, order: "asc" })) ids.push(one.id);
  expect(ids).toEqual([file.id, second.id]);
  expect((await openai.files.retrieve(file.id)).id).toBe(file.id);
  expect(await (await openai.files.content(file.id)).text()).toBe(lines);
  expect(await openai.files.delete(file.id)).toEqual({ id: file.id, object: "file", deleted: true });
  expect(await openai.files.retrieve(file.id).catch((error: { status: number }) => error.status)).toBe(404);
});

type WrittenPart = readonly [string, string];

/** A multipart form as raw text, part by part, each with its header and content. */
function written(parts: readonly WrittenPart[]): RequestInit {
  const body = parts.map(([head, value]) => `--cut\r\ncontent-disposition: form-data; ${head}\r\n\r\n${value}\r\n`).join("");
  return { body: `${body}--cut--\r\n`, headers: { "content-type": "multipart/form-data; boundary=cut" } };
}

test("the file part of a form is accepted without a file name, and a contradictory form is refused", async () => {
  const sent = (...parts: readonly WrittenPart[]) => send("POST", "/v1/proxy/files", written([['name="kind"', "document"], ...parts]));
  // A content type alone makes the part a file.
  const unnamed = await sent(['name="file"\r\ncontent-type: application/octet-stream', "no name"]);
  expect([unnamed.status, unnamed.body.display_name, unnamed.body.size_bytes]).toEqual([201, null, 7]);
  const saved = await send("GET", `/v1/proxy/files/${unnamed.body.id}/content`);
  expect(saved.headers.get("content-disposition")).toBe(`attachment; filename*=UTF-8''${unnamed.body.id}.txt`);
  const cut = await sent([`name="file"; filename="${"a".repeat(254)}\u{1f389}.txt"`, "a long name"]);
  expect([cut.status, cut.body.display_name]).toEqual([201, "a".repeat(254)]);

  for (const [why, ...parts] of [
    ["`file` must be sent as a file: its part names no filename.", ['name="file"', "text"]],
    ["`file` was sent as a file and as text.", ['name="file"; filename="a"', "a file"], ['name="file"', "text"]],
    ["`chat_id[]` is not known here.", ['name="chat_id[]"', "x"], ['name="file"; filename="a"', "a file"]],
  ] as [string, ...WrittenPart[]][]) {
    const { status, text } = await sent(...parts);
    expect([status, text]).toEqual([400, expect.stringContaining(why)]);
  }
});

test("files are filtered by the purpose they are shown with, however they were uploaded", async () => {
  const { apiKey } = await newTeam(world.admin, "purposes");
  const openai = new OpenAI({ baseURL: url("/v1/proxy/llm"), apiKey });
  const ids: string[] = [];
  for (const [content, kind] of [
    [PNG, "image"],
    ["{}", "batch_input"],
    ["text", "document"],
  ] as const)
    ids.push((await put(content, { kind }, apiKey)).body.id);
  ids.push((await openai.files.create({ file: await toFile(PNG, "dot.png"), purpose: "user_data" })).id);
  const found = async (purpose: string) => (await openai.files.list({ purpose, order: "asc" })).data.map(({ id }) => id);
  expect(await found("vision")).toEqual([ids[0] as string]);
  expect(await found("batch")).toEqual([ids[1] as string]);
  expect(await found("user_data")).toEqual(ids.slice(2));
  expect(await found("evals")).toEqual([]);
});

test("a tenant can lower the maximum file size and limit the total size of a group's files", async () => {
  const { admin } = world;
  await admin.post("/v1/admin/tenants", { id: "small", name: "small", media_limits: { document_mb: 1, group_storage_mb: 2 } });
  const { id: groupId } = await admin.post("/v1/admin/resource-groups", { tenant_id: "small", name: "desk", group_type: "team" });
  const { key_value: key } = await admin.post(`/v1/admin/resource-groups/${groupId}/api-keys`, { name: "k", access_mode: "shared" });
  const text = (bytes: number) => "a".repeat(bytes);
  const MIB = 1024 * 1024;
  const large = await put(text(MIB + 1), { kind: "document" }, key);
  expect([large.status, large.body.error]).toEqual([413, expect.stringContaining("at most 1 MiB")]);
  const first = await put(text(MIB), { kind: "document" }, key);
  expect(first.status).toBe(201);
  // Two concurrent uploads cannot both take the space left for one.
  const both = await Promise.all([1, 2].map(() => put(text(MIB), { kind: "document" }, key)));
  expect(both.map(({ status }) => status).toSorted()).toEqual([201, 413]);
  expect(both.find(({ status }) => status === 413)?.body.code).toBe("file_storage_full");
  expect((await send("DELETE", `/v1/proxy/files/${first.body.id}`, {}, key)).status).toBe(200);
  expect((await put(text(MIB), { kind: "document" }, key)).status).toBe(201);
});
