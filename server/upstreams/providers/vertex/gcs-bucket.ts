import type { Outbound } from "../../../runtime/outbound.ts";
import { isObject } from "../../../kernel/json-value.ts";
import { isRefusal } from "../../../kernel/errors.ts";
import { askForBatches, askForBatchJson, drained, VendorFault, wordIn } from "../provider-batches.ts";
import type { ProviderTarget } from "../provider.ts";
import { pathSegment, withoutSlash } from "../send.ts";
import { placeOfObject, type VendorBucket } from "../vendor-bucket.ts";
import type { GoogleBearers } from "./google-bearers.ts";

const OWN = "https://storage.googleapis.com";
/** The provider record's headers are not sent to its store; only the credential is. */
const NO_HEADERS = { headers: {} };

/** Google Cloud Storage through its JSON API. */
export function gcsBucket(outbound: Outbound, bearers: GoogleBearers, target: ProviderTarget): VendorBucket {
  const endpoint = withoutSlash(target.storage?.endpoint ?? OWN);
  const headersOf = async () => {
    const bearer = await bearers.of(target);
    if (isRefusal(bearer)) throw new VendorFault(null, bearer);
    return bearer;
  };
  const objectAt = (address: string, query = "") => {
    const { bucket, key } = placeOfObject(address, "gs");
    return `${endpoint}/storage/v1/b/${pathSegment(bucket)}/o/${pathSegment(key)}${query}`;
  };

  return {
    async put(address, body, signal) {
      const { bucket, key } = placeOfObject(address, "gs");
      const url = `${endpoint}/upload/storage/v1/b/${pathSegment(bucket)}/o?uploadType=media&name=${encodeURIComponent(key)}`;
      const headers = { ...(await headersOf()), "content-type": "application/octet-stream" };
      await askForBatchJson(outbound, NO_HEADERS, { method: "POST", url, headers, body, signal });
    },
    async get(address, signal) {
      const headers = await headersOf();
      return askForBatches(outbound, NO_HEADERS, { method: "GET", url: objectAt(address, "?alt=media"), headers, signal });
    },
    async *list(beginning, signal) {
      const { bucket, key } = placeOfObject(beginning, "gs");
      const all = `${endpoint}/storage/v1/b/${pathSegment(bucket)}/o?prefix=${encodeURIComponent(key)}`;
      for (let more = ""; ;) {
        const headers = await headersOf();
        const page = await askForBatchJson(outbound, NO_HEADERS, { method: "GET", url: `${all}${more}`, headers, signal });
        for (const item of Array.isArray(page.items) ? page.items.filter(isObject) : []) {
          const name = wordIn(item.name);
          if (name !== null) yield `gs://${bucket}/${name}`;
        }
        const token = wordIn(page.nextPageToken);
        if (token === null) return;
        more = `&pageToken=${encodeURIComponent(token)}`;
      }
    },
    async remove(address, signal) {
      const request = { method: "DELETE", url: objectAt(address), headers: await headersOf(), signal } as const;
      const gone = await askForBatches(outbound, NO_HEADERS, request).catch((error: unknown) => {
        if (error instanceof VendorFault && error.status === 404) return null;
        throw error;
      });
      if (gone !== null) await drained(gone);
    },
  };
}
