import { afterEach, expect, test } from "bun:test";
import { sql } from "kysely";
import { signIn } from "../support/worlds/admin.ts";
import { type BatchVendor, openaiBatchVendor } from "../support/vendors/batch-vendors.ts";
import {
  BEDROCK_KEY,
  BEDROCK_ROLE,
  bedrockBatchVendor,
  type BucketBatchVendor,
  VERTEX_TOKEN,
  vertexBatchVendor,
} from "../support/vendors/bucket-batch-vendors.ts";
import { testDatabase } from "../support/database.ts";
import { type GatewayProcess, removeDirectory, startGateway, temporaryDirectory } from "../support/gateway.ts";
import { LONG_TEST_MS } from "../support/patience.ts";
import { promptly, until } from "../support/until.ts";

/** A process is killed again and again while a provider runs a batch: no line is lost, submitted twice, or reported twice. */

const LINES = 800;
const OPENAI = {
  vendor: (): BatchVendor => openaiBatchVendor(),
  record: ({ baseUrl }: BatchVendor) => ({ api_format: "openai", api_key: "sk-vendor-secret", base_url: `${baseUrl}/v1` }),
  question: (body: any): string => body.messages[0].content,
};
const BEDROCK = {
  vendor: (): BatchVendor => bedrockBatchVendor(),
  record: (vendor: BatchVendor) => ({
    ...{ api_format: "bedrock", api_key: BEDROCK_KEY, base_url: vendor.baseUrl, region: "eu-central-1", storage_uri: "s3://acme/gate" },
    ...{ storage_endpoint: (vendor as BucketBatchVendor).storeUrl, storage_role_arn: BEDROCK_ROLE },
  }),
  question: (body: any): string => body.messages[0].content[0].text,
};
const VERTEX = {
  vendor: (): BatchVendor => vertexBatchVendor(),
  record: (vendor: BatchVendor) => ({
    ...{ api_format: "vertex", api_key: VERTEX_TOKEN, base_url: `${vendor.baseUrl}/v1/projects/p/locations/europe-west4` },
    ...{ storage_uri: "gs://acme/gate", storage_endpoint: (vendor as BucketBatchVendor).storeUrl },
  }),
  question: (body: any): string => body.contents[0].parts[0].text,
};

let vendor: BatchVendor;
let database: Awaited<ReturnType<typeof testDatabase>>;
let dataDir: string;
let gateway: GatewayProcess;
let apiKey: string;

async function begun(format: typeof OPENAI): Promise<void> {
  vendor = format.vendor();
  database = await testDatabase();
  dataDir = await temporaryDirectory();
  gateway = await startGateway({ databaseUrl: database.url, dataDir });
  const admin = await signIn(gateway.adminUrl);
  const tenant = { tenant_id: "default" };
  const group = await admin.post("/v1/admin/resource-groups", { ...tenant, name: "killed", group_type: "team" });
  await admin.post("/v1/admin/providers", { ...tenant, provider_key: "vendor", batch_mode: "provider", ...format.record(vendor) });
  await admin.post("/v1/admin/llms", {
    ...{ ...tenant, name: "m", provider: "vendor", enabled: true, group_ids: [group.id], mode: "chat" },
    ...{ input_cost_per_million_tokens: 1000, output_cost_per_million_tokens: 1000 },
  });
  apiKey = (await admin.post(`/v1/admin/resource-groups/${group.id}/api-keys`, { name: "k", access_mode: "shared" })).key_value;
}
afterEach(async () => {
  await gateway.stop();
  await vendor.stop();
  await database.close();
  await removeDirectory(dataDir);
});

async function api(method: string, path: string, body?: unknown) {
  const response = await fetch(`${gateway.runtimeUrl}/v1/proxy/batch/jobs${path}`, {
    method,
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return response.text();
}
const count = async (where: string): Promise<number> =>
  (await sql<{ n: number }>`SELECT count(*)::int AS n FROM batch_lines WHERE ${sql.raw(where)}`.execute(database.db)).rows[0]?.n ?? 0;
async function killed(): Promise<void> {
  await gateway.kill();
  gateway = await startGateway({ databaseUrl: database.url, dataDir });
}

test.each([
  ["openai", OPENAI],
  ["bedrock", BEDROCK],
  ["vertex", VERTEX],
] as const)(
  "%s: kills before submission, while the provider works and while results are read lose or repeat no line",
  async (_name, format) => {
    await begun(format);
    vendor.endsAtOnce = false;
    const requests = Array.from({ length: LINES }, (_, i) => ({
      custom_id: `n${i}`,
      body: { messages: [{ role: "user", content: `n${i}` }] },
    }));
    const { id } = JSON.parse(await api("POST", "", { model: "m", requests }));
    // While lines are being submitted.
    for (const share of [0.2, 0.6]) {
      await promptly(
        () => count("state = 4"),
        (left) => left >= LINES * share,
      );
      await killed();
    }
    // When the provider has accepted the batch but not confirmed it, and while it runs it.
    vendor.breakNext = true;
    await promptly(
      () => vendor.batches.length,
      (made) => made > 0,
    );
    await killed();
    vendor.endsAtOnce = true;
    // While answers come in.
    for (const share of [0.1, 0.4, 0.7]) {
      await promptly(
        () => count("state IN (2, 3)"),
        (given) => given >= LINES * share,
      );
      await killed();
    }
    const job = await until(
      async () => JSON.parse(await api("GET", `/${id}`)),
      ({ ended_at: at }) => at !== null,
    );
    expect(job).toMatchObject({ status: "completed", request_counts: { total: LINES, completed: LINES, failed: 0 } });
    // Each line was submitted once.
    const handed = vendor.batches.flatMap(({ lines }) => lines.map(({ body }) => format.question(body)));
    expect(handed.toSorted()).toEqual(requests.map(({ custom_id: name }) => name).toSorted());
    const results = (await api("GET", `/${id}/results`)).trimEnd().split("\n");
    expect(
      results.map((line) => JSON.parse(line)).map(({ custom_id: name, response }) => [name, response.body.choices[0].message.content]),
    ).toEqual(requests.map(({ custom_id: name }) => [name, name.toUpperCase()]));
    // One row for each line, and their sum is the cost of the job.
    const told = () =>
      sql<{ rows: number; lines: number; cost: number; ends: number }>`
    SELECT count(*) FILTER (WHERE proxy_subtype = 'batch_line_chat_completions')::int AS rows, count(DISTINCT custom_metadata->'batch'->>'line')::int AS lines,
      coalesce(sum(llm_estimated_cost_usd), 0)::float8 AS cost, count(*) FILTER (WHERE proxy_subtype = 'batch_end')::int AS ends
      FROM audit_rows WHERE custom_metadata->'batch'->>'job_id' = ${id} OR custom_metadata->'batch_end'->>'job_id' = ${id}`.execute(
        database.db,
      );
    // The row for the end is in the database shortly after the job reports it.
    const { rows } = await until(told, (found) => (found.rows[0]?.ends ?? 0) > 0);
    expect(rows[0]).toMatchObject({ rows: LINES, lines: LINES, ends: 1 });
    expect(rows[0]?.cost).toBeCloseTo(LINES * 30 * 0.001 * 0.5, 4);
    expect(JSON.parse(await api("GET", `/${id}`)).cost_usd).toBeCloseTo(rows[0]?.cost as number, 4);
  },
  LONG_TEST_MS,
);
