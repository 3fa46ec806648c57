import { type Refusal, refuse } from "../../kernel/errors.ts";
import { pathSegment } from "./send.ts";
import type { ProviderReply, ProviderStorage } from "./provider.ts";
import { VendorFault } from "./provider-batches.ts";

/** A vendor's object store; objects are named by URI (`s3://bucket/key`, `gs://bucket/key`). Throws `VendorFault` if a request fails. */
export interface VendorBucket {
  put(address: string, body: string, signal: AbortSignal): Promise<void>;
  /** The body of the response is a stream. */
  get(address: string, signal: AbortSignal): Promise<Response>;
  /** URIs that begin with `beginning`. */
  list(beginning: string, signal: AbortSignal): AsyncGenerator<string>;
  /** Does nothing if the object does not exist. */
  remove(address: string, signal: AbortSignal): Promise<void>;
}

const ADDRESS = /^(s3|gs):\/\/([a-z0-9][a-z0-9._-]{1,220})\/(.*)$/s;

/** Throws if the URI is not of this scheme, or if its key contains `.` or `..` segments. */
export function placeOfObject(address: string, scheme: "s3" | "gs"): { readonly bucket: string; readonly key: string } {
  const [, found, bucket = "", key = ""] = ADDRESS.exec(address) ?? [];
  if (found !== scheme || key.split("/").some((part) => part === "." || part === ".."))
    throw new VendorFault(null, refuse("upstream_invalid_response", undefined, { reason: `no address in a ${scheme}:// bucket` }));
  return { bucket, key };
}

/** A key as a URL path; slashes are kept. */
export const keyAsPath = (key: string): string => key.split("/").map(pathSegment).join("/");

/** Appends a name to `s3://bucket/prefix`, with or without a trailing slash. */
export const below = (address: string, name: string): string => `${address.replace(/\/+$/, "")}/${name}`;

/** Removes an object if it exists; ignores failures. */
export async function removed(bucket: VendorBucket, address: string, signal: AbortSignal): Promise<void> {
  await bucket.remove(address, signal).catch(() => undefined);
}

/** The response with an object; null if it does not exist. */
export async function gotten(bucket: VendorBucket, address: string, signal: AbortSignal): Promise<Response | null> {
  return bucket.get(address, signal).catch((error: unknown) => {
    if (error instanceof VendorFault && error.status === 404) return null;
    throw error;
  });
}

/**
 * The folder with a batch's input and output, from the URI of its input. Null unless it is one of ours in the provider's bucket, whatever
 * the vendor reports.
 */
export function folderOfInput(input: string, storage: ProviderStorage | undefined): string | null {
  const folder = /^(.*\/[0-9a-z]{26}\/)input\.jsonl$/.exec(input)?.[1];
  return folder !== undefined && storage !== undefined && folder.startsWith(below(storage.uri, "")) ? folder : null;
}

export async function removeFolder(bucket: VendorBucket, folder: string, signal: AbortSignal): Promise<void> {
  for await (const address of bucket.list(folder, signal)) await bucket.remove(address, signal);
}

/** An object as the answer to a request about a job. */
export async function objectAnswer(bucket: VendorBucket, address: string, abort: AbortController): Promise<ProviderReply | Refusal> {
  try {
    return { response: await bucket.get(address, abort.signal), requestId: null };
  } catch (error) {
    if (error instanceof VendorFault) return error.refusal;
    throw error;
  }
}
