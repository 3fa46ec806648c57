import { type Refusal, refuse } from "../../kernel/errors.ts";
import { pathSegment } from "./send.ts";
import type { ProviderReply, ProviderStorage } from "./provider.ts";
import { VendorFault } from "./provider-batches.ts";

/** Objects in a vendor's store, each by its address (`s3://bucket/key`, `gs://bucket/key`). Throws `VendorFault` for what it did not do. */
export interface VendorBucket {
  put(address: string, body: string, signal: AbortSignal): Promise<void>;
  /** Its body streams. */
  get(address: string, signal: AbortSignal): Promise<Response>;
  /** Addresses that begin so. */
  list(beginning: string, signal: AbortSignal): AsyncGenerator<string>;
  /** Of one that is not there: nothing. */
  remove(address: string, signal: AbortSignal): Promise<void>;
}

const ADDRESS = /^(s3|gs):\/\/([a-z0-9][a-z0-9._-]{1,220})\/(.*)$/s;

/** Throws where the address is none of this scheme, or its key could lead elsewhere as a path. */
export function placeOfObject(address: string, scheme: "s3" | "gs"): { readonly bucket: string; readonly key: string } {
  const [, found, bucket = "", key = ""] = ADDRESS.exec(address) ?? [];
  if (found !== scheme || key.split("/").some((part) => part === "." || part === ".."))
    throw new VendorFault(null, refuse("upstream_invalid_response", undefined, { reason: `no address in a ${scheme}:// bucket` }));
  return { bucket, key };
}

/** A key as a path, its slashes as they are. */
export const keyAsPath = (key: string): string => key.split("/").map(pathSegment).join("/");

/** `s3://bucket/prefix` with or without a slash at its end, and below it. */
export const below = (address: string, name: string): string => `${address.replace(/\/+$/, "")}/${name}`;

/** Has it removed if it is there, and says nothing where it cannot be. */
export async function removed(bucket: VendorBucket, address: string, signal: AbortSignal): Promise<void> {
  await bucket.remove(address, signal).catch(() => undefined);
}

/** The text of what is there, or null for nothing. */
export async function gotten(bucket: VendorBucket, address: string, signal: AbortSignal): Promise<Response | null> {
  return bucket.get(address, signal).catch((error: unknown) => {
    if (error instanceof VendorFault && error.status === 404) return null;
    throw error;
  });
}

/**
 * Below whose address a batch has all that it reads and writes: told by the address of its input, null where that is none of ours in the
 * provider's bucket, whatever the vendor says.
 */
export function folderOfInput(input: string, storage: ProviderStorage | undefined): string | null {
  const folder = /^(.*\/[0-9a-z]{26}\/)input\.jsonl$/.exec(input)?.[1];
  return folder !== undefined && storage !== undefined && folder.startsWith(below(storage.uri, "")) ? folder : null;
}

export async function removeFolder(bucket: VendorBucket, folder: string, signal: AbortSignal): Promise<void> {
  for await (const address of bucket.list(folder, signal)) await bucket.remove(address, signal);
}

/** An object as the answer to a question about a job. */
export async function objectAnswer(bucket: VendorBucket, address: string, abort: AbortController): Promise<ProviderReply | Refusal> {
  try {
    return { response: await bucket.get(address, abort.signal), requestId: null };
  } catch (error) {
    if (error instanceof VendorFault) return error.refusal;
    throw error;
  }
}
