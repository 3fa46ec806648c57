import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import pg from "pg";
import { type AdminClient, serveModels, signIn } from "../../support/worlds/admin.ts";
import { ADMIN_PASSWORD, startGateway } from "../../support/gateway.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import { until } from "../../support/until.ts";
import { type BillingVendors, keyFileFor, startBillingVendors } from "../../support/vendors/usage-vendors.ts";
import { startWorld, type World } from "../../support/world.ts";

let world: World;
let vendors: BillingVendors;
const PATH = "/v1/admin/usage-import/providers";
const DAY_MS = 86_400_000;
const day = (back: number) => new Date(Date.now() - back * DAY_MS).toISOString().slice(0, 10);
const dayAfter = (text: string) => new Date(Date.parse(text) + DAY_MS).toISOString().slice(0, 10);

beforeAll(async () => {
  world = await startWorld();
  vendors = startBillingVendors();
});
afterAll(async () => {
  await world.end();
  await vendors.stop();
});
beforeEach(() => {
  vendors.uses.length = 0;
  Object.assign(vendors, { throttleEvery: 0, down: false, downAfter: -1, hold: null, holdAfter: 0 });
  // Amounts that doubles cannot add up exactly: 40 days of two models, two keys each.
  for (let back = 40; back >= 3; back--)
    for (const [at, key] of ["key_of_gateway_1111", "key_of_people_2222"].entries())
      for (const [of, model] of ["fake-1", "fake-2"].entries())
        vendors.uses.push({
          day: day(back),
          model,
          key,
          project: "proj_1",
          input: 1_000 + back * 10 + at,
          cached: 100,
          output: 500 + of,
          requests: 3,
          nano: 10_000_001n + BigInt(back * 1_234_567 + at * 111 + of * 7),
        });
});

const sql = async (text: string): Promise<any[]> => {
  const client = new pg.Client({ connectionString: world.databaseUrl });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
};

const keyOf = (vendor: string) =>
  ({
    openai: "sk-admin-right",
    anthropic: "sk-ant-admin-right-0001",
    aws: "AKIAABCDEFGH1234:secret-of-aws",
    azure: "tenant-1:client-1:secret-of-azure",
    google: keyFileFor(vendors.origin),
  })[vendor] as string;
const accounts: Record<string, string> = { azure: "/subscriptions/0000-1", google: "bills-project.billing.gcp_billing_export_v1_0" };
const formats: Record<string, string> = {
  openai: "openai",
  anthropic: "anthropic",
  aws: "bedrock",
  azure: "azure_openai",
  google: "vertex",
};

let made = 0;
/** Creates a provider whose vendor is the fake, with a backfill of 40 days. */
async function provider(vendor: string, more: object = {}, admin: AdminClient = world.admin): Promise<string> {
  const record = {
    provider_key: `${vendor}-${made++}`,
    api_format: formats[vendor],
    base_url: "https://calls.example/v1",
    region: "eu-west-1",
  };
  const { id } = await admin.post("/v1/admin/providers", record);
  const settings = {
    import_endpoint_override: vendors.origin,
    import_backfill_through: day(40),
    api_key: keyOf(vendor),
    ...(accounts[vendor] === undefined ? {} : { import_account: accounts[vendor] }),
    ...more,
  };
  const { status, body } = await admin.request("PATCH", `${PATH}/${id}`, settings);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return id;
}

/** Resolves with the newest run once it has reached the wanted state. */
async function run(id: string, reached: (run: any) => boolean = (one) => one.finished_at !== null): Promise<any> {
  const before = Date.now();
  for (;;) {
    const [newest] = (await world.admin.get(`${PATH}/${id}/runs`)).runs;
    if (newest !== undefined && reached(newest)) return newest;
    if (Date.now() - before > PATIENCE_MS) throw new Error(`the run does not come to what it should: ${JSON.stringify(newest)}`);
    await Bun.sleep(50);
  }
}
async function imported(id: string): Promise<any> {
  const begun = await world.admin.request("POST", `${PATH}/${id}/run`);
  expect(begun.status).toBe(202);
  return run(id, (one) => one.id === begun.body.id && one.finished_at !== null);
}

const cents = (usd: number) => Math.round(usd * 100);
const truth = (from: string, to: string) => Number(vendors.totalNano(from, to) / 10_000_000n);
/** The vendor's charges as the gateway has stored them, in whole nano-dollars. */
const keptNano = async (id: string) =>
  BigInt(
    (
      await sql(
        `SELECT coalesce(sum(cost_nano), 0)::text AS nano FROM usage_import_buckets WHERE provider_id = '${id}' AND superseded_at IS NULL`,
      )
    )[0].nano,
  );

describe.each(["openai", "anthropic", "aws", "azure", "google"])("%s", (vendor) => {
  test("the import equals the vendor's bill to the last digit, despite throttling and an interruption", async () => {
    vendors.throttleEvery = 5;
    const id = await provider(vendor);
    expect(await world.admin.post(`${PATH}/${id}/test`, undefined)).toMatchObject({ duration_ms: expect.any(Number) });
    vendors.downAfter = 4;
    const begun = await world.admin.post(`${PATH}/${id}/run`, undefined);
    // A throttled run continues by itself; one whose vendor is unreachable waits.
    await run(id, (one) => one.status === "partial" && vendors.down);
    vendors.forgetCursors();
    vendors.downAfter = -1;
    vendors.down = false;
    const ended = await imported(id);
    expect([ended.id, ended.status, ended.error]).toEqual([begun.id, "succeeded", null]);
    expect(await keptNano(id)).toBe(vendors.totalNano(day(40), day(0)));
    const told = await world.admin.get(`${PATH}/${id}/reconciliation?from=${day(40)}&to=${day(0)}`);
    expect(cents(told.totals.vendor.cost_usd + told.totals.provisional_cost_usd)).toBeOneOf([
      truth(day(40), day(0)),
      truth(day(40), day(0)) + 1,
    ]);
    expect((await world.admin.get(`${PATH}/${id}`)).import_backfill_through).toBe(day(0));
    expect(vendors.counts.throttled).toBeGreaterThan(0);

    // Importing the same again adds nothing; a revision is imported, and what it replaced is kept.
    expect((await imported(id)).rows_imported).toBe(0);
    const revised = vendors.uses.find((use) => use.day === day(3));
    if (revised === undefined) throw new Error("there is no such day");
    revised.nano += 5_000_000_003n;
    const withdrawn = vendors.uses.findIndex((use) => use.day === day(3) && use !== revised);
    vendors.uses.splice(withdrawn, 1);
    expect((await imported(id)).rows_imported).toBeGreaterThan(0);
    expect(await keptNano(id)).toBe(vendors.totalNano(day(40), day(0)));
    const [kept] = await sql(
      `SELECT max(revision) AS revision, count(*) FILTER (WHERE superseded_at IS NOT NULL) AS former FROM usage_import_buckets WHERE provider_id = '${id}'`,
    );
    expect([kept.revision, Number(kept.former) >= 2]).toEqual([2, true]);
  });
});

test("a vendor that keeps throttling without a wait is called at growing intervals", async () => {
  vendors.throttleEvery = 1;
  const id = await provider("openai");
  await world.admin.post(`${PATH}/${id}/run`, undefined);
  const [told] = await until(
    () =>
      sql(`SELECT status, attempts, extract(epoch FROM resume_at - now()) AS seconds FROM usage_import_runs WHERE provider_id = '${id}'`),
    ([one]) => one.attempts >= 2,
  );
  expect([told.status, told.attempts]).toEqual(["partial", 2]);
  expect(Number(told.seconds)).toBeGreaterThan(10);
});

test("after its process is killed an import continues in another process where it stopped", async () => {
  const id = await provider("openai");
  const held = Promise.withResolvers<void>();
  Object.assign(vendors, { hold: held.promise, holdAfter: 5 });
  await world.admin.post(`${PATH}/${id}/run`, undefined);
  await run(id, (one) => one.rows_imported > 0 && vendors.holdAfter === 0);
  await world.gateway.kill();
  held.resolve();
  vendors.hold = null;
  const again = await startGateway({ databaseUrl: world.databaseUrl, dataDir: world.gateway.dataDir });
  try {
    const admin = await signIn(again.adminUrl);
    // Expires the lease, which would end in less than a minute.
    await sql(`UPDATE usage_import_runs SET lease_until = now() WHERE provider_id = '${id}' AND finished_at IS NULL`);
    const before = Date.now();
    for (;;) {
      const [newest] = (await admin.get(`${PATH}/${id}/runs`)).runs;
      if (newest.status === "succeeded") break;
      if (Date.now() - before > PATIENCE_MS) throw new Error(JSON.stringify(newest));
      await Bun.sleep(50);
    }
    expect(await keptNano(id)).toBe(vendors.totalNano(day(40), day(0)));
    expect((await admin.get(`${PATH}/${id}/runs`)).total).toBe(1);
  } finally {
    await again.stop();
  }
  const revived = await startGateway({ databaseUrl: world.databaseUrl, dataDir: world.gateway.dataDir });
  Object.assign(world, { gateway: revived, admin: await signIn(revived.adminUrl) });
});

test("the reconciliation explains differences: calls outside the gateway, prices and unmatched names", async () => {
  vendors.uses.length = 0;
  const served = await serveModels(
    world.admin,
    world.upstream.baseUrl,
    [{ name: "fake-1", input_cost_per_million_tokens: 1, output_cost_per_million_tokens: 1 }],
    { providerKey: "reconciled", group: "reconciled", apiKey: "sk-of-gateway-0000-1111" },
  );
  const { providers } = await world.admin.get(`${PATH}?only_supported=true&page_size=200`);
  const id = (await world.admin.get("/v1/admin/providers?page_size=200")).providers.find(
    (one: any) => one.provider_key === "reconciled",
  ).id;
  expect(providers.some((one: any) => one.id === id)).toBe(false);
  const settings = { import_endpoint_override: vendors.origin, api_key: "sk-admin-right", import_backfill_through: day(5) };
  await world.admin.request("PATCH", `${PATH}/${id}`, settings);
  const answer = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": served.apiKey },
    body: JSON.stringify({ model: "fake-1", messages: [{ role: "user", content: "hello" }] }),
  });
  expect(answer.status).toBe(200);
  const { usage } = (await answer.json()) as any;
  // Backdates the call by two days, because figures of today are provisional.
  const wait = Date.now();
  while ((await sql("SELECT id FROM audit_rows WHERE llm_provider = 'reconciled'")).length === 0) {
    if (Date.now() - wait > PATIENCE_MS) throw new Error("the row does not come");
    await Bun.sleep(50);
  }
  const rows = await sql(
    "SELECT to_char(timestamp AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day FROM audit_rows WHERE llm_provider = 'reconciled'",
  );
  const today = rows[0].day as string;
  // A day without vendor data yet counts as no difference.
  expect(await imported(id)).toMatchObject({ cost_usd: 0, difference_usd: 0 });
  const untold = await world.admin.get(`${PATH}/${id}/reconciliation?from=${today}&to=${dayAfter(today)}`);
  expect(untold.rows).toMatchObject([{ provisional: true, gateway: { requests: 1 }, explained: [{ kind: "provisional" }] }]);
  expect(untold.totals).toMatchObject({ gateway: { requests: null }, difference: { tokens: 0, cost_usd: 0 } });
  const use = { day: today, model: "fake-1", key: "key_of_gateway_1111", project: "proj_1", requests: 1, cached: 0 };
  const tokens = { input: usage.prompt_tokens, output: usage.completion_tokens };
  vendors.uses.push(
    { ...use, ...tokens, nano: 2_000_000_000n },
    { ...use, key: "key_of_people_2222", input: 70, output: 7, nano: 500_000_000n },
    { ...use, model: "fake-9", input: 30, output: 3, nano: 250_000_000n },
  );
  const ended = await imported(id);
  // The unknown key and the model that does not exist here.
  expect([ended.status, ended.unmatched]).toEqual(["succeeded", 2]);
  const to = dayAfter(today);
  // Provisional figures are not compared: the day is in neither side's total.
  expect((await world.admin.get(`${PATH}/${id}/reconciliation?from=${today}&to=${to}`)).totals).toMatchObject({
    vendor: { input_tokens: 0 },
    gateway: { requests: null, input_tokens: 0 },
    provisional_cost_usd: 2.75,
    difference: { tokens: 0, cost_usd: 0 },
  });
  expect(ended.difference_usd).toBe(0);
  await sql(`UPDATE usage_import_buckets SET provisional = false WHERE provider_id = '${id}'`);
  const told = await world.admin.get(`${PATH}/${id}/reconciliation?from=${today}&to=${to}`);
  const [first, ninth] = told.rows;
  expect(first).toMatchObject({ model: "fake-1", difference: { tokens: 77 } });
  expect(first.explained.map((one: any) => one.kind)).toEqual(["direct_use", "price_table"]);
  expect(first.explained[0]).toMatchObject({ tokens: 77, cost_usd: 0.5 });
  expect(ninth).toMatchObject({ model: "fake-9", explained: [{ kind: "unmatched_model", tokens: 33, cost_usd: 0.25 }] });
  for (const row of told.rows) {
    expect(row.explained.reduce((sum: number, one: any) => sum + one.tokens, 0)).toBe(row.difference.tokens);
    expect(row.explained.reduce((sum: number, one: any) => sum + one.cost_usd, 0)).toBeCloseTo(row.difference.cost_usd, 9);
  }
  const byKey = await world.admin.get(`${PATH}/${id}/reconciliation?from=${today}&to=${to}&by=key`);
  expect(byKey.rows.map((one: any) => [one.key, one.vendor.input_tokens + one.vendor.output_tokens])).toEqual([
    ["key_of_people_2222", 77],
    ["provider", tokens.input + tokens.output + 33],
  ]);

  // Unmatched usage is in the asset registry until someone maps it.
  expect((await world.admin.get("/v1/admin/assets?search=fake-9")).assets).toMatchObject([
    { asset_type: "model", governance_status: "ungoverned" },
  ]);
  const { mappings } = await world.admin.get(`${PATH}/${id}/mappings?state=unmatched`);
  expect(mappings.map((one: any) => [one.kind, one.vendor_id, one.label])).toEqual([
    ["key", "key_of_people_2222", "name of key_of_people_2222"],
    ["model", "fake-9", null],
  ]);
  const mapping = { kind: "model", vendor_id: "fake-9", target: "fake-1" };
  expect((await world.admin.request("PATCH", `${PATH}/${id}/mappings`, mapping)).body).toMatchObject({
    target: "fake-1",
    matched_by: "hand",
  });
  expect((await world.admin.request("PATCH", `${PATH}/${id}/mappings`, { ...mapping, target: "no model" })).status).toBe(400);
  expect((await world.admin.request("PATCH", `${PATH}/${id}/mappings`, { ...mapping, vendor_id: "never named" })).status).toBe(404);
  expect((await imported(id)).unmatched).toBe(1);
  expect((await world.admin.get(`${PATH}/${id}/reconciliation?from=${today}&to=${to}`)).rows.map((one: any) => one.model)).toEqual([
    "fake-1",
  ]);

  // The vendor bills lines of batch jobs like any other call.
  const job = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/batch/jobs`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": served.apiKey },
    body: JSON.stringify({ model: "fake-1", requests: [{ custom_id: "one", body: { messages: [{ role: "user", content: "hello" }] } }] }),
  });
  expect(job.status).toBe(201);
  await until(
    () => sql("SELECT id FROM audit_rows WHERE llm_provider = 'reconciled' AND proxy_type = 'batch'"),
    (lines) => lines.length === 1,
  );
  const [withLine] = (await world.admin.get(`${PATH}/${id}/reconciliation?from=${today}&to=${to}`)).rows;
  expect(withLine.gateway).toMatchObject({ requests: 2, input_tokens: 2 * tokens.input, output_tokens: 2 * tokens.output });
});

test("a key refused by the vendor ends the run with the vendor's error, which never shows the key", async () => {
  const id = await provider("openai", { api_key: "sk-admin-wrong-and-secret" });
  expect(await world.admin.post(`${PATH}/${id}/test`, undefined)).toMatchObject({
    ok: false,
    detail: "The vendor answered 401: Incorrect API key provided: Bearer …",
  });
  const ended = await imported(id);
  expect([ended.status, ended.error]).toEqual(["failed", "The vendor answered 401: Incorrect API key provided: Bearer …"]);
  const told = JSON.stringify([
    await world.admin.get(`${PATH}/${id}`),
    await world.admin.get("/v1/admin/admin-log?page_size=200"),
    world.gateway.output(),
  ]);
  expect(told).not.toContain("wrong-and-secret");
});

test("a scheduled import runs by itself, and invalid settings are refused by field", async () => {
  const id = await provider("openai", { import_enabled: true, import_schedule_cron: "*/30 * * * *" });
  expect((await world.admin.get(`${PATH}/${id}`)).next_run_at).toEqual(expect.any(String));
  await sql(`UPDATE usage_import_settings SET next_run_at = now() WHERE provider_id = '${id}'`);
  expect(await run(id)).toMatchObject({ cause: "schedule", status: "succeeded" });
  const refused = async (body: object) => {
    const { status, body: answer } = await world.admin.request("PATCH", `${PATH}/${id}`, body);
    return [status, answer.fields?.[0]?.field];
  };
  expect(await refused({ import_schedule_cron: "* * * * *" })).toEqual([400, "import_schedule_cron"]);
  expect(await refused({ import_schedule_cron: "0 0 31 2 *" })).toEqual([400, "import_schedule_cron"]);
  expect(await refused({ import_backfill_through: day(-2) })).toEqual([400, "import_backfill_through"]);
  expect(await refused({ import_endpoint_override: "https://elsewhere.example" })).toEqual([400, "api_key"]);
  expect(await refused({ import_mapping_policy: { mode: "guess" } })).toEqual([400, "import_mapping_policy.mode"]);
  const early = await world.admin.request("GET", `${PATH}/${id}/reconciliation?to=0001-01-01`);
  expect([early.status, early.body.fields[0].field]).toEqual([400, "from"]);
  const echo = (await world.admin.post("/v1/admin/providers", { provider_key: "echoing", api_format: "echo" })).id;
  const { body } = await world.admin.request("PATCH", `${PATH}/${echo}`, { import_enabled: true });
  expect(body.fields[0].field).toBe("import_enabled");
  expect((await world.admin.request("POST", `${PATH}/${echo}/run`)).status).toBe(409);
});

test("another tenant can neither see nor start an import", async () => {
  const id = await provider("openai");
  await world.admin.post("/v1/admin/tenants", { id: "curious", name: "curious" });
  const account = { tenant_id: "curious", username: "curious", password: ADMIN_PASSWORD };
  await world.admin.post("/v1/admin/admin-users", { ...account, role: "owner" });
  const curious = await signIn(world.gateway.adminUrl, account, "tenant");
  for (const [method, rest, body] of [
    ["GET", ""],
    ["PATCH", "", { import_enabled: false }],
    ["GET", "/runs"],
    ["POST", "/run"],
    ["POST", "/test"],
    ["GET", "/mappings"],
    ["GET", "/reconciliation"],
  ] as const)
    expect((await curious.request(method, `${PATH}/${id}${rest}`, body)).status).toBe(404);
  expect((await curious.get(PATH)).total).toBe(0);
});

test("a vendor with an endless list does not delay other imports", async () => {
  let page = 0;
  const endless = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch() {
      await Bun.sleep(100);
      return Response.json({ data: [], has_more: true, next_page: `page-${++page}` });
    },
  });
  try {
    const slow = await provider("anthropic", { import_endpoint_override: `http://127.0.0.1:${endless.port}` });
    await world.admin.post(`${PATH}/${slow}/run`, undefined);
    await run(slow, (one) => one.status === "running");
    expect(await imported(await provider("openai"))).toMatchObject({ status: "succeeded" });
    expect((await run(slow, () => true)).finished_at).toBeNull();
    await world.admin.request("DELETE", `/v1/admin/providers/${slow}`);
  } finally {
    await endless.stop(true);
  }
});

test("an import whose page cursors keep failing restarts only a few times", async () => {
  const asked: (string | null)[] = [];
  const vendor = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      const page = new URL(request.url).searchParams.get("page");
      asked.push(page);
      return page === null
        ? Response.json({ data: [], has_more: true, next_page: `page-${asked.length}` })
        : Response.json({ error: { message: "no such page" } }, { status: 400 });
    },
  });
  try {
    const id = await provider("anthropic", { import_endpoint_override: `http://127.0.0.1:${vendor.port}` });
    expect(await imported(id)).toMatchObject({ status: "failed", error: "The vendor answered 400: no such page" });
    expect(asked.filter((page) => page === null).length).toBe(6);
    await world.admin.request("DELETE", `/v1/admin/providers/${id}`);
  } finally {
    await vendor.stop(true);
  }
});

test("a list that continues without a cursor counts as incomplete", async () => {
  const vendor = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => Response.json({ data: [{ start_time: 10 ** 15, results: [] }], has_more: true, next_page: null }),
  });
  try {
    const id = await provider("openai", { import_endpoint_override: `http://127.0.0.1:${vendor.port}` });
    await world.admin.post(`${PATH}/${id}/run`, undefined);
    expect((await run(id, (one) => one.status === "partial")).error).toContain("and not where");
    expect((await world.admin.get(`${PATH}/${id}`)).import_backfill_through).toBe(day(40));
    await world.admin.request("DELETE", `/v1/admin/providers/${id}`);
  } finally {
    await vendor.stop(true);
  }
});

test("a vendor error with a NUL character still ends the run", async () => {
  const refusing = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => Response.json({ error: { message: "no such\0account" } }, { status: 404 }),
  });
  try {
    const id = await provider("openai", { import_endpoint_override: `http://127.0.0.1:${refusing.port}` });
    expect(await imported(id)).toMatchObject({ status: "failed", error: "The vendor answered 404: no such\uFFFDaccount" });
  } finally {
    await refusing.stop(true);
  }
});

test("a backfill date moved back during a run is where the next run begins", async () => {
  const id = await provider("openai", { import_backfill_through: day(10) });
  const held = Promise.withResolvers<void>();
  Object.assign(vendors, { hold: held.promise, holdAfter: 3 });
  await world.admin.post(`${PATH}/${id}/run`, undefined);
  await run(id, (one) => one.rows_imported > 0 && vendors.holdAfter === 0);
  await world.admin.request("PATCH", `${PATH}/${id}`, { import_backfill_through: day(40) });
  held.resolve();
  vendors.hold = null;
  expect(await run(id)).toMatchObject({ status: "succeeded", from: day(10) });
  expect((await world.admin.get(`${PATH}/${id}`)).import_backfill_through).toBe(day(40));
  expect(await imported(id)).toMatchObject({ status: "succeeded", from: day(40) });
  expect(await keptNano(id)).toBe(vendors.totalNano(day(40), day(0)));
  expect((await world.admin.get(`${PATH}/${id}`)).import_backfill_through).toBe(day(0));
});
