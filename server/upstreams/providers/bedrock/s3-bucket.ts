import { signAwsRequest } from "../../../kernel/http/aws-signature.ts";
import { type Refusal, refuse } from "../../../kernel/errors.ts";
import { unescapeXml } from "../../../kernel/text/xml-text.ts";
import type { Outbound } from "../../../runtime/outbound.ts";
import { askForBatches, drained, readText, VendorFault } from "../provider-batches.ts";
import type { ProviderTarget } from "../provider.ts";
import { withoutSlash } from "../send.ts";
import { keyAsPath, placeOfObject, type VendorBucket } from "../vendor-bucket.ts";
import { noRegion, regionOf } from "./authorize.ts";
import { readBedrockCredential } from "./credentials.ts";

/** The provider record's headers are not sent to its store; only the credential is. */
const NO_HEADERS = { headers: {} };

/** S3 or a compatible store, with path-style URLs (`endpoint/bucket/key`) and the provider's AWS keys. */
export function s3Bucket(outbound: Outbound, clock: { now(): number }, target: ProviderTarget): VendorBucket | Refusal {
  const credential = target.apiKey === null ? null : readBedrockCredential(target.apiKey);
  if (credential?.kind === "bearer")
    return refuse("upstream_auth_failed", undefined, {
      reason: "an API key of Bedrock opens no bucket: for storage_uri, api_key must be ACCESS_KEY_ID:SECRET",
    });
  const keys = credential;
  const region = regionOf(target);
  if (region === null) return noRegion();
  const own = `https://s3.${region}.amazonaws.com${new URL(target.baseUrl).hostname.endsWith(".cn") ? ".cn" : ""}`;
  const endpoint = withoutSlash(target.storage?.endpoint ?? own);

  async function ask(
    method: "GET" | "PUT" | "DELETE",
    path: string,
    signal: AbortSignal,
    { query = {}, body = "" }: { readonly query?: Readonly<Record<string, string>>; readonly body?: string } = {},
  ): Promise<Response> {
    const url = new URL(`${endpoint}/${path}`);
    // Spaces as %20: a plus sign is ambiguous in signatures.
    url.search = Object.entries(query)
      .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
      .join("&");
    const plain: Record<string, string> = method === "PUT" ? { "content-type": "application/octet-stream" } : {};
    const toSign = { method, url: url.href, headers: plain, body, service: "s3", region: region as string, now: new Date(clock.now()) };
    const headers = keys === null ? plain : await signAwsRequest(keys, toSign);
    return askForBatches(outbound, NO_HEADERS, { method, url: url.href, headers, signal, ...(method === "PUT" && { body }) });
  }
  const pathOf = (address: string) => {
    const { bucket, key } = placeOfObject(address, "s3");
    return `${bucket}/${keyAsPath(key)}`;
  };

  return {
    async put(address, body, signal) {
      await drained(await ask("PUT", pathOf(address), signal, { body }));
    },
    get: (address, signal) => ask("GET", pathOf(address), signal),
    async *list(beginning, signal) {
      const { bucket, key: prefix } = placeOfObject(beginning, "s3");
      for (let more: Record<string, string> = {}; ;) {
        const text = await readText(await ask("GET", bucket, signal, { query: { "list-type": "2", prefix, ...more } }));
        for (const [, key = ""] of text.matchAll(/<Key>([^<]*)<\/Key>/g)) yield `s3://${bucket}/${unescapeXml(key)}`;
        const token = /<NextContinuationToken>([^<]*)<\/NextContinuationToken>/.exec(text)?.[1];
        if (token === undefined || !/<IsTruncated>true<\/IsTruncated>/.test(text)) return;
        more = { "continuation-token": unescapeXml(token) };
      }
    },
    async remove(address, signal) {
      const gone = await ask("DELETE", pathOf(address), signal).catch((error: unknown) => {
        if (error instanceof VendorFault && error.status === 404) return null;
        throw error;
      });
      if (gone !== null) await drained(gone);
    },
  };
}
