import { expect, test } from "bun:test";
import { vendorTarget } from "../../../tests/support/vendors/fake-vendor.ts";
import type { Outbound } from "../../runtime/outbound.ts";
import { bedrockBatches } from "./bedrock/bedrock-batches.ts";
import type { ProviderTarget } from "./provider.ts";
import { vertexBatches } from "./vertex/vertex-batches.ts";

/** Requests to the vendors' own hosts, and how job states are read. */

const CLOCK = { now: () => Date.UTC(2026, 10, 21) };
const SIGNAL = new AbortController().signal;
const KEY = "01m8enjprge16wyr3n1kf7711d";
const BATCH = { key: KEY, operation: "converse" as const, lines: [{ id: `${KEY}_1`, body: "{}" }], headers: {} };

interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
}

function answering(answer: (url: string, method: string) => Response): { readonly out: Outbound; readonly asked: Asked[] } {
  const asked: Asked[] = [];
  const out: Outbound = {
    async fetch(url, { method, headers }) {
      asked.push({ method, url, headers: new Headers(headers) });
      return answer(url, method);
    },
  };
  return { out, asked };
}

const bedrock = (given: Partial<ProviderTarget> = {}) =>
  vendorTarget("bedrock", {
    baseUrl: "https://bedrock-runtime.eu-central-1.amazonaws.com",
    apiKey: "ASIAEXAMPLE1:secret/of/theirs:session-token",
    storage: { uri: "s3://acme/gate", endpoint: null, roleArn: "arn:aws:iam::123456789012:role/r" },
    modelName: "m",
    headers: { "x-ours": "1" },
    ...given,
  });

test.each([
  [
    "https://bedrock-runtime.eu-central-1.amazonaws.com",
    "https://bedrock.eu-central-1.amazonaws.com",
    "https://s3.eu-central-1.amazonaws.com",
  ],
  [
    "https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com",
    "https://bedrock-fips.us-gov-west-1.amazonaws.com",
    "https://s3.us-gov-west-1.amazonaws.com",
  ],
  [
    "https://bedrock-runtime.cn-north-1.amazonaws.com.cn",
    "https://bedrock.cn-north-1.amazonaws.com.cn",
    "https://s3.cn-north-1.amazonaws.com.cn",
  ],
  ["https://proxy.example/aws", "https://proxy.example/aws", "https://s3.eu-west-1.amazonaws.com"],
])("for base_url %s, batches are created at %s and files stored at %s", async (baseUrl, control, store) => {
  const { out, asked } = answering((_url, method) => (method === "PUT" ? new Response("") : Response.json({ jobArn: "arn:x" })));
  const over = await bedrockBatches(out, CLOCK).send(bedrock({ baseUrl, region: "eu-west-1" }), BATCH, SIGNAL);
  expect(over).toEqual({ kind: "taken", id: "arn:x" });
  expect(asked.map(({ method, url }) => [method, url])).toEqual([
    ["PUT", `${store}/acme/gate/${KEY}/input.jsonl`],
    ["POST", `${control}/model-invocation-job`],
  ]);
  // The record's own headers go only to the provider; the session token goes with each signature.
  expect(asked.map(({ headers }) => [headers.get("x-ours"), headers.get("x-amz-security-token")])).toEqual([
    [null, "session-token"],
    ["1", "session-token"],
  ]);
});

test.each([
  ["ServiceQuotaExceededException", "busy"],
  ["ValidationException", "refused"],
])("a Bedrock batch creation that fails with %s is %s, and its input file is deleted", async (kind, expected) => {
  const { out, asked } = answering((_url, method) =>
    method === "POST"
      ? Response.json({ message: "no" }, { status: 400, headers: { "x-amzn-errortype": kind } })
      : new Response(null, { status: method === "PUT" ? 200 : 204 }),
  );
  expect(await bedrockBatches(out, CLOCK).send(bedrock(), BATCH, SIGNAL)).toMatchObject({ kind: expected });
  expect(asked.map(({ method }) => method)).toEqual(["PUT", "POST", "DELETE"]);
});

test.each([
  ["Submitted", { kind: "running" }],
  ["Stopping", { kind: "running" }],
  ["SomethingNew", { kind: "running" }],
  ["Completed", { kind: "ended", why: null, message: null }],
  ["PartiallyCompleted", { kind: "ended", why: "expired", message: "said" }],
  ["Expired", { kind: "ended", why: "expired", message: "said" }],
  ["Stopped", { kind: "ended", why: "cancelled", message: null }],
  ["Failed", { kind: "ended", why: "failed", message: "said" }],
])("the state of a Bedrock batch that is %s", async (status, expected) => {
  const { out } = answering(() => Response.json({ status, message: "said" }));
  expect(await bedrockBatches(out, CLOCK).readStatus(bedrock(), "arn:aws:bedrock:x", SIGNAL)).toEqual(expected as any);
});

const vertex = () =>
  vendorTarget("vertex", {
    baseUrl: "https://europe-west4-aiplatform.googleapis.com/v1/projects/p/locations/europe-west4",
    apiKey: "ya29.token",
    storage: { uri: "gs://acme", endpoint: null, roleArn: null },
    modelName: "gemini-2.5-flash",
  });
const JOB = "projects/123/locations/europe-west4/batchPredictionJobs/7";

test("Vertex batches use Google Cloud Storage if no other storage is configured", async () => {
  const { out, asked } = answering(() => Response.json({ name: JOB }));
  const over = await vertexBatches(out, CLOCK).send(vertex(), { ...BATCH, operation: "gemini" }, SIGNAL);
  expect(over).toEqual({ kind: "taken", id: JOB });
  expect(asked.map(({ url }) => url)).toEqual([
    `https://storage.googleapis.com/upload/storage/v1/b/acme/o?uploadType=media&name=${KEY}%2Finput.jsonl`,
    "https://europe-west4-aiplatform.googleapis.com/v1/projects/p/locations/europe-west4/batchPredictionJobs",
  ]);
});

test.each([
  ["QUEUED", { kind: "running" }],
  ["PAUSED", { kind: "running" }],
  ["SUCCEEDED", { kind: "ended", why: null, message: null }],
  ["PARTIALLY_SUCCEEDED", { kind: "ended", why: null, message: "said" }],
  ["EXPIRED", { kind: "ended", why: "expired", message: null }],
  ["CANCELLED", { kind: "ended", why: "cancelled", message: null }],
  ["FAILED", { kind: "ended", why: "failed", message: "said" }],
])("the state of a Vertex batch that is %s", async (state, expected) => {
  const { out } = answering(() => Response.json({ state: `JOB_STATE_${state}`, error: { code: 3, message: "said" } }));
  expect(await vertexBatches(out, CLOCK).readStatus(vertex(), JOB, SIGNAL)).toEqual(expected as any);
});

test("files of a batch are deleted only within its own folder", async () => {
  const inputs = ["gs://acme/everything/input.jsonl", `gs://acme/${KEY}/other.jsonl`, `gs://another/${KEY}/input.jsonl`];
  for (const uri of inputs) {
    const { out, asked } = answering(() => Response.json({ inputConfig: { gcsSource: { uris: [uri] } } }));
    await vertexBatches(out, CLOCK).tidy?.(vertex(), JOB, SIGNAL);
    expect(asked).toHaveLength(1);
  }
  const { out, asked } = answering(() =>
    Response.json({ inputDataConfig: { s3InputDataConfig: { s3Uri: `s3://acme/other/${KEY}/input.jsonl` } } }),
  );
  await bedrockBatches(out, CLOCK).tidy?.(bedrock(), "arn:x", SIGNAL);
  expect(asked).toHaveLength(1);
});
