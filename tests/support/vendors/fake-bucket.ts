import { createHash, createHmac } from "node:crypto";

/**
 * An independent S3-compatible store. It computes each request's signature as AWS documents it (Signature Version 4, S3) and refuses wrong
 * ones.
 */
export interface FakeBucket {
  readonly endpoint: string;
  readonly objects: Map<string, string>;
  readonly requests: { readonly method: string; readonly path: string; readonly status: number }[];
  /** While true, answers everything with 503. */
  away: boolean;
  /** Stores the next object but answers 500, so that the client cannot know the outcome. */
  loseNextAnswer(): void;
  stop(): Promise<void>;
}

export const BUCKET_KEYS = { accessKeyId: "AKIDEXAMPLE1", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY" };
const PAGE = 3;

const sha256 = (data: string | Uint8Array) => createHash("sha256").update(data).digest("hex");
const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest();
const encoded = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

export interface SignedRequest {
  readonly method: string;
  /** Path and query as received. */
  readonly target: string;
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The signature a request should have, given what its `authorization` header lists as signed. */
export function expectedSignature({ method, target, headers }: SignedRequest, secret: string): string {
  const authorization = headers["authorization"] ?? "";
  const signed = /SignedHeaders=([^,]+)/.exec(authorization)?.[1] ?? "";
  const scope = /Credential=[^/]+\/([^,]+)/.exec(authorization)?.[1] ?? "";
  const [path = "", query = ""] = target.split("?");
  const uri = path
    .split("/")
    .map((part) => encoded(decodeURIComponent(part)))
    .join("/");
  const pairs = query === "" ? [] : query.split("&").map((pair) => pair.split("=").map((side) => encoded(decodeURIComponent(side))));
  const canonicalQuery = pairs
    .map(([name, value = ""]) => `${name}=${value}`)
    .toSorted()
    .join("&");
  const canonical = [
    method,
    uri,
    canonicalQuery,
    ...signed.split(";").map((name) => `${name}:${(headers[name] ?? "").trim()}`),
    "",
    signed,
    headers["x-amz-content-sha256"],
  ].join("\n");
  const [date = "", region = "", service = "", end = ""] = scope.split("/");
  const text = ["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, sha256(canonical)].join("\n");
  return createHmac("sha256", hmac(hmac(hmac(hmac(`AWS4${secret}`, date), region), service), end))
    .update(text)
    .digest("hex");
}

const failure = (status: number, code: string) =>
  new Response(`<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code></Error>`, { status });

export function startFakeBucket(name: string): FakeBucket {
  const objects = new Map<string, string>();
  const requests: FakeBucket["requests"][number][] = [];
  let lose = false;

  async function answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const body = await request.text();
    if (fake.away) return failure(503, "SlowDown");
    const headers = Object.fromEntries(request.headers);
    const signature = /Signature=([0-9a-f]{64})$/.exec(headers["authorization"] ?? "")?.[1];
    if (!(headers["authorization"] ?? "").startsWith(`AWS4-HMAC-SHA256 Credential=${BUCKET_KEYS.accessKeyId}/`))
      return failure(403, "InvalidAccessKeyId");
    if (
      signature !==
      expectedSignature({ method: request.method, target: `${url.pathname}${url.search}`, headers }, BUCKET_KEYS.secretAccessKey)
    )
      return failure(403, "SignatureDoesNotMatch");
    if (headers["x-amz-content-sha256"] !== sha256(body)) return failure(400, "XAmzContentSHA256Mismatch");
    const [, bucket, ...rest] = url.pathname.split("/");
    if (bucket !== name) return failure(404, "NoSuchBucket");
    const key = rest.join("/");
    if (request.method === "PUT") {
      if (headers["if-none-match"] === "*" && objects.has(key)) return failure(412, "PreconditionFailed");
      objects.set(key, body);
      return new Response(null, { headers: { etag: `"${sha256(body).slice(0, 32)}"` } });
    }
    if (request.method === "DELETE") {
      objects.delete(key);
      return new Response(null, { status: 204 });
    }
    if (key !== "") return objects.has(key) ? new Response(objects.get(key)) : failure(404, "NoSuchKey");
    return list(url.searchParams);
  }

  function list(query: URLSearchParams): Response {
    const after = query.get("continuation-token") ?? query.get("start-after") ?? "";
    const keys = [...objects.keys()]
      .toSorted()
      .filter((key) => key.startsWith(query.get("prefix") ?? "") && key > after.replace(/^after&/, ""));
    const page = keys.slice(0, Math.min(PAGE, Number(query.get("max-keys") ?? 1000)));
    const more = keys.length > page.length ? `<NextContinuationToken>after&amp;${page.at(-1)}</NextContinuationToken>` : "";
    return new Response(
      `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult><Name>${name}</Name><KeyCount>${page.length}</KeyCount><IsTruncated>${more !== ""}</IsTruncated>${page.map((key) => `<Contents><Key>${key}</Key><Size>1</Size></Contents>`).join("")}${more}</ListBucketResult>`,
      { headers: { "content-type": "application/xml" } },
    );
  }

  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const response = await answer(request);
      requests.push({ method: request.method, path: new URL(request.url).pathname, status: response.status });
      if (lose && request.method === "PUT" && response.status === 200) {
        lose = false;
        return new Response(null, { status: 500 });
      }
      return response;
    },
  });
  const fake: FakeBucket = {
    endpoint: `http://127.0.0.1:${server.port}`,
    objects,
    requests,
    away: false,
    loseNextAnswer() {
      lose = true;
    },
    stop: () => server.stop(true),
  };
  return fake;
}
