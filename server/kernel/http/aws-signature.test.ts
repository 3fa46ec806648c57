import { describe, expect, test } from "bun:test";
import { expectedSignature } from "../../../tests/support/vendors/fake-bucket.ts";
import { type AwsRequest, signAwsRequest } from "./aws-signature.ts";

const KEYS = { accessKeyId: "AKIAIOSFODNN7EXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", sessionToken: null };
const HOST = "examplebucket.s3.amazonaws.com";
const NOW = new Date("2013-05-24T00:00:00Z");

const s3 = (request: Partial<AwsRequest> & { url: string }): AwsRequest => ({
  method: "GET",
  headers: {},
  body: "",
  service: "s3",
  region: "us-east-1",
  now: NOW,
  ...request,
});

// From the pages of the S3 documentation that derive a signature step by step.
describe("the published AWS examples for S3", () => {
  test.each([
    [
      "list objects",
      s3({ url: `https://${HOST}/?max-keys=2&prefix=J` }),
      "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
    ],
    ["bucket lifecycle", s3({ url: `https://${HOST}/?lifecycle=` }), "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"],
    [
      "get an object",
      s3({ url: `https://${HOST}/test.txt`, headers: { range: "bytes=0-9" } }),
      "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
    ],
  ])("%s: the signature is equal", async (_name, request, signature) => {
    const headers = await signAwsRequest(KEYS, request);
    const target = request.url.slice(`https://${HOST}`.length);
    expect(expectedSignature({ method: request.method, target, headers: { ...headers, host: HOST } }, KEYS.secretAccessKey)).toBe(
      signature,
    );
    expect(headers["authorization"]).toEndWith(`Signature=${signature}`);
  });
});

// Computed with botocore 1.43.11 (S3SigV4Auth) for the same requests.
test.each([
  [
    { url: "http://127.0.0.1:9000/bucket?list-type=2&prefix=a%2Fb%2Fchain%2F&max-keys=2&start-after=a%2Fb%2Fchain%2F1" },
    "6710ad588372755d193efe00ad82639e2c38a63943d876f8ee7e87fba06e0e25",
  ],
  [
    { url: "http://127.0.0.1:9000/bucket?list-type=2&prefix=a%2Fb%2F&max-keys=1000&continuation-token=1%2BX%2Fy%3D%3D" },
    "5c27fa25f4f7d1f45ecaa9981c78d8fcb8e0f59127fa2857402f9053f04d2b18",
  ],
  [
    {
      method: "PUT",
      url: "http://127.0.0.1:9000/bucket/a/b/chain/1.jsonl",
      headers: { "content-type": "application/x-ndjson", "if-none-match": "*" },
      body: "text",
    },
    "8903b0dbdb2e08fb8db774091af517a366b12adba18b2bae4b9a8a706b4c3fb5",
  ],
])("a signature equals that of AWS's own signer: %o", async (request, signature) => {
  const headers = await signAwsRequest(
    { accessKeyId: "AKIDEXAMPLE1", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", sessionToken: null },
    s3({ ...request, now: new Date(Date.UTC(2026, 10, 21, 12)) }),
  );
  expect(headers["authorization"]).toEndWith(`Signature=${signature}`);
});

test("the signature check of the tests' S3 server accepts the published signature of a PUT", () => {
  const headers = {
    host: HOST,
    date: "Fri, 24 May 2013 00:00:00 GMT",
    authorization: `AWS4-HMAC-SHA256 Credential=${KEYS.accessKeyId}/20130524/us-east-1/s3/aws4_request,SignedHeaders=date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class,Signature=`,
    "x-amz-date": "20130524T000000Z",
    "x-amz-storage-class": "REDUCED_REDUNDANCY",
    "x-amz-content-sha256": "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
  };
  expect(expectedSignature({ method: "PUT", target: "/test%24file.text", headers }, KEYS.secretAccessKey)).toBe(
    "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
  );
});

test("signed headers contain the access key ID, and never the secret key", async () => {
  const headers = await signAwsRequest(
    { ...KEYS, sessionToken: "session/token+1==" },
    s3({ url: `https://${HOST}/a/b.jsonl`, method: "PUT", body: "text" }),
  );
  expect(headers).toMatchObject({ "x-amz-security-token": "session/token+1==", "x-amz-date": "20130524T000000Z" });
  expect(headers["host"]).toBeUndefined();
  expect(JSON.stringify(headers)).not.toContain(KEYS.secretAccessKey);
});
