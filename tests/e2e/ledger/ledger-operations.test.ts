import { afterAll, beforeAll, expect, test } from "bun:test";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { doctorCommand } from "../../../server/cli/doctor.ts";
import { BUCKET_KEYS, type FakeBucket, startFakeBucket } from "../../support/vendors/fake-bucket.ts";
import { rowsOf, type Served, serveModels } from "../../support/worlds/admin.ts";
import { removeDirectory, temporaryDirectory } from "../../support/gateway.ts";
import { startWorld, type World } from "../../support/world.ts";

let world: World;
let served: Served;
let directory: string;
let bucket: FakeBucket;
let targets: Record<string, string>;

beforeAll(async () => {
  directory = await temporaryDirectory();
  bucket = startFakeBucket("audit-heads");
  targets = {
    GW_AUDIT_CHECKPOINT_FILE: join(directory, "checkpoints.jsonl"),
    GW_AUDIT_CHECKPOINT_URL: "s3://audit-heads/test",
    AWS_ACCESS_KEY_ID: BUCKET_KEYS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: BUCKET_KEYS.secretAccessKey,
    AWS_ENDPOINT_URL_S3: bucket.endpoint,
  };
  world = await startWorld(targets);
  served = await serveModels(world.admin, world.upstream.baseUrl, ["fake-1"]);
});
afterAll(async () => {
  await world.end();
  await bucket.stop();
  await removeDirectory(directory);
});

async function chat(headers: Record<string, string> = {}, key = served.apiKey): Promise<number> {
  const response = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": key, ...headers },
    body: JSON.stringify({ model: "fake-1", messages: [{ role: "user", content: "hello" }] }),
  });
  await response.arrayBuffer();
  return response.status;
}

/** Takes a raw body, since `JSON.stringify` drops `__proto__`. */
const asAdmin = (method: string, path: string, body?: string) =>
  fetch(world.gateway.adminUrl + path, {
    method,
    headers: { authorization: `Bearer ${world.admin.token}`, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body }),
  });

const sql = async (text: string) => {
  const client = new pg.Client({ connectionString: world.databaseUrl });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
};

const metric = async (name: string): Promise<number> => {
  const text = await (await fetch(`${world.gateway.adminUrl}/metrics`)).text();
  return Number(
    text
      .split("\n")
      .find((line) => line.startsWith(`${name} `))
      ?.split(" ")
      .at(-1),
  );
};

test("metrics count rows written, syncs and verifications by verdict", async () => {
  for (let i = 0; i < 3; i++) expect(await chat({ "x-correlation-id": `call ${i}` })).toBe(200);
  await rowsOf(world.admin, { proxy_subtype: "chat_completions" }, 3);
  expect(await metric("gatehouse_ledger_rows_written_total")).toBeGreaterThanOrEqual(3);
  expect(await metric("gatehouse_ledger_syncs_total")).toBeGreaterThan(0);
  expect(await metric("gatehouse_ledger_sync_seconds_total")).toBeGreaterThan(0);
  expect(await metric("gatehouse_ledger_refused_total")).toBe(0);
  expect(await metric("gatehouse_ledger_shipping")).toBe(1);
  const { chains } = await world.admin.get("/v1/admin/audit/chains");
  expect((await world.admin.post(`/v1/admin/audit/chains/${chains[0].chain_id}/verify`, {})).verdict).toBe("intact");
  expect(await metric('gatehouse_ledger_verifications_total{verdict="intact"}')).toBe(1);
  // An alert on an increase needs the series to exist at 0 before the first event.
  for (const verdict of ["checkpoint_invalid", "altered", "broken_link", "missing", "unanchored"])
    expect(await metric(`gatehouse_ledger_verifications_total{verdict="${verdict}"}`)).toBe(0);
});

test("rows are exported as CSV and as JSON lines; an invalid query is refused with the field's name", async () => {
  const csv = (
    await world.admin.request("POST", "/v1/admin/proxy-logs/export", {
      format: "csv",
      filters: { proxy_subtype: "chat_completions" },
      order: "asc",
    })
  ).body as string;
  const [header = "", ...lines] = csv.trimEnd().split("\r\n");
  expect(header).toContain("correlation_id");
  expect(lines).toHaveLength(3);
  for (const [i, line] of lines.entries()) expect(line).toContain(`call ${i}`);
  const one = await world.admin.request("POST", "/v1/admin/proxy-logs/export", { filters: { correlation_id: "call 1" } });
  expect(one.body).toMatchObject({ correlation_id: "call 1", llm_model_used: "fake-1" });
  const wrong = await world.admin.request("POST", "/v1/admin/proxy-logs/export", { format: "csv", filters: { nonsense: 1 } });
  expect([wrong.status, wrong.body.fields[0].field]).toEqual([400, "filters.nonsense"]);
  for (const way of ["query", "export"]) {
    const sent = await asAdmin("POST", `/v1/admin/proxy-logs/${way}`, '{"filters":{"__proto__":"x"}}');
    expect([sent.status, ((await sent.json()) as any).fields]).toEqual([
      400,
      [{ field: "filters.__proto__", message: "is not known here" }],
    ]);
  }
  expect((await asAdmin("GET", "/v1/admin/alerts?__proto__=x")).status).toBe(400);
});

test("each export has a Content-Disposition header with a file name", async () => {
  const { chains } = await world.admin.get("/v1/admin/audit/chains");
  for (const [method, path, body, name] of [
    ["POST", "/v1/admin/proxy-logs/export", { format: "csv" }, "proxy-logs.csv"],
    ["POST", "/v1/admin/proxy-logs/export", {}, "proxy-logs.jsonl"],
    ["GET", "/v1/admin/admin-log/export", undefined, "admin-log.jsonl"],
    ["GET", `/v1/admin/audit/chains/${chains[0].chain_id}/export`, undefined, `${chains[0].chain_id}.jsonl`],
  ] as const) {
    const exported = await asAdmin(method, path, body === undefined ? undefined : JSON.stringify(body));
    await exported.body?.cancel();
    expect(exported.headers.get("content-disposition")).toBe(`attachment; filename="${name}"`);
  }
});

test("after the erasure of a data subject through the API the chain and the admin log still verify", async () => {
  await chat({ "x-gw-session-id": "mary", "x-correlation-id": "about mary" });
  const [row] = await rowsOf(world.admin, { correlation_id: "about mary" }, 1);
  const path = "/v1/admin/data-erasure?tenant_id=default";
  const event = await world.admin.post(path, { subject: { end_user_session_id: row.end_user_session_id }, reason: "asked for" });
  expect(event).toMatchObject({ rows_erased: 1, identifiers: ["end_user_session_id"] });
  const [erased] = await rowsOf(world.admin, { id: row.id }, 1);
  expect(erased).toMatchObject({ correlation_id: null, request_body_preview: null, end_user_session_id: null, row_hash: row.row_hash });
  expect(erased.erased_at).not.toBeNull();
  expect((await world.admin.get(path)).erasures[0].id).toBe(event.id);
  expect(await world.admin.post(`/v1/admin/audit/chains/${row.chain_id}/verify`, {})).toMatchObject({
    verdict: "intact",
    bodies_erased: 1,
  });
  expect((await world.admin.post("/v1/admin/admin-log/verify", {})).findings).toEqual([]);
  const nameless = await world.admin.request("POST", path, { subject: {} });
  expect(nameless.status).toBe(400);
});

test("the doctor finds nothing wrong, then reports an altered row, an unknown setting and an unreachable bucket", async () => {
  let printed = "";
  const io = { stdout: (text: string) => void (printed += text), stderr: (text: string) => void (printed += text) };
  const env = { GW_DATA_DIR: world.gateway.dataDir, DATABASE_URL: world.databaseUrl };
  const code = await doctorCommand([], env, io);
  expect([code, printed]).toEqual([0, expect.stringContaining("intact over its newest")]);
  for (const about of ["settings", "data directory", "journal", "disk", "migrations", "partitions", "signing key", "admin log"])
    expect(printed).toMatch(new RegExp(`^ok +${about}`, "m"));
  await sql("UPDATE audit_rows SET http_status_code = 204 WHERE chain_seq = 2");
  printed = "";
  expect(await doctorCommand(["--json"], env, io)).toBe(1);
  expect(JSON.parse(printed).findings.filter((finding: any) => finding.state === "wrong")).toMatchObject([
    { about: "audit chain", detail: expect.stringContaining("altered") },
  ]);
  printed = "";
  expect(await doctorCommand([], { ...env, GW_NONSENSE: "1" }, io)).toBe(1);
  expect(printed).toContain("GW_NONSENSE");
  printed = "";
  bucket.away = true;
  expect(await doctorCommand([], { ...env, ...targets }, io)).toBe(1);
  bucket.away = false;
  expect(printed).toMatch(/^ok +checkpoint file/m);
  expect(printed).toMatch(/^wrong +checkpoint bucket +s3:\/\/audit-heads\/test\/: GET .*503 SlowDown$/m);
  printed = "";
  await doctorCommand([], { ...env, ...targets }, io);
  expect(printed).toMatch(/^(ok|warning) +checkpoint bucket +s3:\/\/audit-heads\/test\/ answers/m);
  expect(await doctorCommand([], { ...env, DATABASE_URL: "postgres://127.0.0.1:1/none" }, io)).toBe(1);
});

test("checkpoints of calls and of the admin log are in the checkpoint file and bucket as soon as they are in the database", async () => {
  await world.gateway.stop();
  expect(existsSync(join(directory, "checkpoints.jsonl"))).toBe(true);
  const lines = readFileSync(join(directory, "checkpoints.jsonl"), "utf8").trimEnd().split("\n");
  const stored = (await sql("SELECT note FROM audit_checkpoints UNION ALL SELECT note FROM admin_log_checkpoints"))
    .map((row) => row.note)
    .toSorted();
  expect(stored.some((note: string) => note.startsWith("gw.audit/admin-log\n"))).toBe(true);
  expect(lines.map((line) => JSON.parse(line).note).toSorted()).toEqual(stored);
  expect([...bucket.objects.values()].map((body) => JSON.parse(body).note).toSorted()).toEqual(stored);
  expect(new Set(bucket.requests.map(({ status }) => status))).toEqual(new Set([200, 503]));
});

test("the doctor reports a chain truncated behind the newest checkpoint of the checkpoint file", async () => {
  const file = targets.GW_AUDIT_CHECKPOINT_FILE as string;
  const examined = async (env: Record<string, string>) => {
    let printed = "";
    await doctorCommand(
      ["--json"],
      { GW_DATA_DIR: world.gateway.dataDir, DATABASE_URL: world.databaseUrl, ...env },
      { stdout: (text) => void (printed += text), stderr: () => undefined },
    );
    return JSON.parse(printed).findings;
  };
  const chains = async (env: Record<string, string>) =>
    (await examined(env)).filter(({ about }: any) => about === "audit chain" || about === "checkpoint file");
  await sql("UPDATE audit_rows SET http_status_code = 200 WHERE chain_seq = 2");
  expect(await chains({ GW_AUDIT_CHECKPOINT_FILE: file })).toMatchObject([
    { state: "ok", detail: `${file} has checkpoints of 2 chain(s)` },
    { state: "ok", detail: expect.stringContaining("intact") },
  ]);
  // Like a restored backup, which is consistent in itself.
  await sql(
    "TRUNCATE audit_checkpoints; DELETE FROM audit_rows WHERE chain_seq > 2; UPDATE audit_chains SET head_seq = 2, last_checkpoint_seq = NULL, head_hash = (SELECT row_hash FROM audit_rows WHERE chain_seq = 2)",
  );
  expect(await chains({})).toMatchObject([{ state: "ok", detail: expect.stringContaining("intact") }]);
  expect(await chains({ GW_AUDIT_CHECKPOINT_FILE: file })).toMatchObject([
    { state: "ok" },
    { state: "wrong", detail: expect.stringContaining("missing") },
  ]);
  await sql("TRUNCATE audit_rows, audit_checkpoints; DELETE FROM audit_chains");
  expect(await chains({ GW_AUDIT_CHECKPOINT_FILE: file })).toMatchObject([
    { state: "ok" },
    { state: "wrong", detail: expect.stringContaining("missing") },
  ]);
  // Truncates only the admin log, as if its last entries had never existed.
  const adminLog = async () => (await examined({ GW_AUDIT_CHECKPOINT_FILE: file })).find(({ about }: any) => about === "admin log");
  expect(await adminLog()).toMatchObject({ state: "ok", detail: expect.stringMatching(/^intact over \d+ entries$/) });
  await sql(
    "TRUNCATE admin_log_checkpoints; ALTER TABLE admin_log DISABLE TRIGGER USER; DELETE FROM admin_log WHERE chain_seq > 1; ALTER TABLE admin_log ENABLE TRIGGER USER; UPDATE admin_log_head SET seq = 1, hash = (SELECT entry_hash FROM admin_log WHERE chain_seq = 1)",
  );
  expect(await adminLog()).toMatchObject({ state: "wrong", detail: expect.stringContaining("missing") });
  // A torn line does not hide the others; a line that no checkpoint file can contain is an error.
  appendFileSync(file, '{"type":"checkpoint"\n');
  expect(await chains({ GW_AUDIT_CHECKPOINT_FILE: file })).toMatchObject([
    { state: "ok" },
    { state: "wrong", detail: expect.stringContaining("missing") },
  ]);
  appendFileSync(file, "nonsense");
  expect(await chains({ GW_AUDIT_CHECKPOINT_FILE: file })).toMatchObject([
    { state: "wrong", detail: expect.stringMatching(/in its newest part, line \d+: /) },
  ]);
});
