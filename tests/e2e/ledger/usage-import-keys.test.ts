import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import pg from "pg";
import { until } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";

/** What a vendor reports about its keys: whose they are, and how long a run reads it. */
let world: World;
let vendor: Bun.Server<undefined>;
/** Answers requests about keys and projects; usage figures are answered separately. */
let tellKeys: (url: URL) => Promise<Response> | Response;
let used: string[];
const PATH = "/v1/admin/usage-import/providers";
const DAY_MS = 86_400_000;
const day = (back: number) => new Date(Date.now() - back * DAY_MS).toISOString().slice(0, 10);

beforeAll(async () => {
  world = await startWorld();
  vendor = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: (request) => answer(new URL(request.url)) });
});
afterAll(async () => {
  await world.end();
  await vendor.stop(true);
});
beforeEach(() => {
  used = [];
  tellKeys = () => Response.json({ data: [], has_more: false });
});

function answer(url: URL): Promise<Response> | Response {
  if (url.pathname.endsWith("/usage_report/messages")) {
    const results = used.map((key) => ({ api_key_id: key, model: "told", uncached_input_tokens: 10, output_tokens: 1 }));
    return Response.json({ data: [{ starting_at: `${day(2)}T00:00:00Z`, results }], has_more: false });
  }
  if (/\/(?:projects|api_keys)$/.test(url.pathname)) return tellKeys(url);
  return Response.json({ data: [], has_more: false });
}

const sql = async (text: string): Promise<any[]> => {
  const client = new pg.Client({ connectionString: world.databaseUrl });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
};

let made = 0;
async function provider(format: "openai" | "anthropic", more: object = {}): Promise<string> {
  const record = { provider_key: `p-${made++}`, api_format: format, base_url: "https://calls.example/v1", ...more };
  const { id } = await world.admin.post("/v1/admin/providers", record);
  // Each provider has a path of its own, which identifies its requests.
  const settings = {
    import_endpoint_override: `${vendor.url.origin}/${id}`,
    import_backfill_through: day(5),
    api_key: "sk-of-the-account",
  };
  expect((await world.admin.request("PATCH", `${PATH}/${id}`, settings)).status).toBe(200);
  return id;
}
async function imported(id: string): Promise<any> {
  const begun = await world.admin.post(`${PATH}/${id}/run`, undefined);
  return until(
    async () => (await world.admin.get(`${PATH}/${id}/runs`)).runs[0],
    (run) => run.id === begun.id && run.finished_at !== null,
  );
}

test("an endless list of keys is read up to a limit, and the usage is imported without it", async () => {
  let asked = 0;
  tellKeys = (url) => {
    const of = `${url.pathname}-${asked++}`;
    const data = Array.from({ length: 20_000 }, (_, at) => ({ id: `${of}-${at}`, redacted_value: "sk-...1234" }));
    return Response.json({ data, has_more: true, last_id: of });
  };
  const id = await provider("openai");
  expect(await imported(id)).toMatchObject({ status: "succeeded", error: null });
  expect(asked).toBe(7);
});

test("a run's lease is renewed while keys are listed, and the run stops once another process has the lease", async () => {
  const asked: (string | null)[] = [];
  const held: boolean[] = [];
  const id = await provider("anthropic");
  tellKeys = async (url) => {
    if (!url.pathname.startsWith(`/${id}/`)) return Response.json({ data: [], has_more: false });
    const after = url.searchParams.get("after_id");
    asked.push(after);
    // As if the steps before had taken longer than the lease.
    if (after === null) await sql(`UPDATE usage_import_runs SET lease_until = now() - interval '1 second' WHERE provider_id = '${id}'`);
    else {
      held.push((await sql(`SELECT lease_until > now() AS held FROM usage_import_runs WHERE provider_id = '${id}'`))[0].held);
      await sql(
        `UPDATE usage_import_runs SET lease = gen_random_uuid(), lease_until = now() + interval '1 hour' WHERE provider_id = '${id}'`,
      );
    }
    return Response.json({ data: [], has_more: asked.length < 10, last_id: `place-${asked.length}` });
  };
  await world.admin.post(`${PATH}/${id}/run`, undefined);
  await until(
    () => asked.length,
    (times) => times >= 2,
  );
  // A process runs imports one after the other, so it has given up the first by now.
  expect(await imported(await provider("anthropic"))).toMatchObject({ status: "succeeded" });
  expect([asked, held]).toEqual([[null, "place-1"], [true]]);
  expect((await world.admin.get(`${PATH}/${id}/runs`)).runs[0].status).toBe("running");
});

test("a key once matched as the gateway's stays matched after its replacement and when the vendor refuses to list keys", async () => {
  const shown = (id: string) => ({ id, name: `name of ${id}`, partial_key_hint: `sk-ant-...${id.slice(-4)}` });
  const id = await provider("anthropic", { api_key: "sk-ant-of-the-gateway-1111" });
  const told = async () => {
    const { mappings } = await world.admin.get(`${PATH}/${id}/mappings?kind=key`);
    return mappings.map((one: any) => [one.vendor_id, one.target, one.matched_by]);
  };
  used = ["key_1111", "key_3333"];
  tellKeys = () => Response.json({ data: used.map(shown), has_more: false });
  await imported(id);
  expect(await told()).toEqual([
    ["key_1111", "provider", "hint"],
    ["key_3333", null, null],
  ]);

  await world.admin.request("PATCH", `/v1/admin/providers/${id}`, { api_key: "sk-ant-of-the-gateway-2222" });
  used = ["key_1111", "key_2222", "key_3333"];
  await imported(id);
  const both = [
    ["key_1111", "provider", "hint"],
    ["key_2222", "provider", "hint"],
    ["key_3333", null, null],
  ];
  expect(await told()).toEqual(both);

  tellKeys = () => Response.json({ error: { message: "may not read keys" } }, { status: 403 });
  expect((await imported(id)).status).toBe("succeeded");
  expect(await told()).toEqual(both);
  // An administrator can still declare that the key was never the gateway's.
  const strangers = { kind: "key", vendor_id: "key_1111", target: null, ignored: true };
  expect((await world.admin.request("PATCH", `${PATH}/${id}/mappings`, strangers)).body).toMatchObject({ target: null, ignored: true });
  await imported(id);
  expect((await told())[0]).toEqual(["key_1111", null, "hand"]);
});
