import { signAwsRequest } from "../../kernel/http/aws-signature.ts";
import type { BucketSettings } from "../../kernel/configuration/bucket-settings.ts";
import { unescapeXml } from "../../kernel/text/xml-text.ts";
import type { Outbound } from "../../runtime/outbound.ts";

/** The store refused or was unreachable. The message says which request failed and why, and holds no secret. */
export class BucketFailed extends Error {}

/** Objects under one prefix of an S3-compatible store. Keys are relative to it and consist of letters, digits and `. _ - /`. */
export interface ObjectBucket {
  /** `s3://bucket/prefix` */
  readonly address: string;
  /** Stores a new object in one piece. Returns false if the key exists; that object is kept. */
  putNew(key: string, body: string): Promise<boolean>;
  /** Null if there is no such object. */
  get(key: string): Promise<string | null>;
  /** Keys that begin with `prefix`, in order, after `after`. Read one page at a time. */
  list(prefix: string, options?: { readonly after?: string; readonly pageSize?: number }): AsyncGenerator<string>;
}

const TIMEOUT_MS = 15_000;
const PAGE = 1_000;

/** Uses path-style addresses (`endpoint/bucket/key`), which every compatible store understands. Methods throw `BucketFailed`. */
export function openBucket(settings: BucketSettings, out: Outbound, now: () => number = Date.now): ObjectBucket {
  const { bucket, prefix, endpoint, region, keys } = settings;

  async function ask(
    method: "GET" | "PUT",
    path: string,
    query: Record<string, string>,
    headers: Record<string, string>,
    body: string,
  ): Promise<{ status: number; text: string }> {
    const url = new URL(`${endpoint}/${bucket}${path}`);
    // Spaces must be %20: a plus sign would be signed as one thing and read as another.
    url.search = Object.entries(query)
      .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
      .join("&");
    const abort = new AbortController();
    const stop = setTimeout(() => abort.abort(new Error(`no whole answer within ${TIMEOUT_MS} ms`)), TIMEOUT_MS);
    try {
      const signed = await signAwsRequest(keys, { method, url: url.href, headers, body, service: "s3", region, now: new Date(now()) });
      const response = await out.fetch(url.href, {
        method,
        headers: signed,
        ...(method === "PUT" ? { body } : {}),
        abort,
        timeoutMs: TIMEOUT_MS,
      });
      return { status: response.status, text: await response.text() };
    } catch (error) {
      throw new BucketFailed(`${method} ${url.origin}${url.pathname}: ${(error as Error).message}`, { cause: error });
    } finally {
      clearTimeout(stop);
    }
  }

  function refused(method: string, path: string, { status, text }: { status: number; text: string }): BucketFailed {
    const code = /<Code>([^<]{1,100})<\/Code>/.exec(text)?.[1];
    return new BucketFailed(`${method} ${endpoint}/${bucket}${path}: ${status}${code === undefined ? "" : ` ${code}`}`);
  }

  return {
    address: `s3://${bucket}/${prefix}`,
    async putNew(key, body) {
      const path = `/${prefix}${key}`;
      const answer = await ask("PUT", path, {}, { "content-type": "application/x-ndjson", "if-none-match": "*" }, body);
      if (answer.status === 412) return false;
      if (answer.status !== 200) throw refused("PUT", path, answer);
      return true;
    },
    async get(key) {
      const path = `/${prefix}${key}`;
      const answer = await ask("GET", path, {}, {}, "");
      if (answer.status === 404 && !answer.text.includes("NoSuchBucket")) return null;
      if (answer.status !== 200) throw refused("GET", path, answer);
      return answer.text;
    },
    async *list(within, options = {}) {
      const base = { "list-type": "2", prefix: `${prefix}${within}`, "max-keys": String(options.pageSize ?? PAGE) };
      for (let more: Record<string, string> = options.after === undefined ? {} : { "start-after": `${prefix}${options.after}` }; ;) {
        const answer = await ask("GET", "", { ...base, ...more }, {}, "");
        if (answer.status !== 200) throw refused("GET", "", answer);
        for (const [, key = ""] of answer.text.matchAll(/<Key>([^<]*)<\/Key>/g)) yield key.slice(prefix.length);
        const token = /<NextContinuationToken>([^<]*)<\/NextContinuationToken>/.exec(answer.text)?.[1];
        if (token === undefined || !/<IsTruncated>true<\/IsTruncated>/.test(answer.text)) return;
        more = { "continuation-token": unescapeXml(token) };
      }
    },
  };
}
