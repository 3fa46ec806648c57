import { z } from "zod";
import type { AwsKeys } from "../http/aws-signature.ts";
import { isWebAddress } from "../http/web-address.ts";

/** A place in an S3-compatible object store. */
export interface BucketPlace {
  readonly bucket: string;
  /** The prefix of every key, including its closing slash; empty for the whole bucket. */
  readonly prefix: string;
}

export interface BucketSettings extends BucketPlace {
  readonly region: string;
  /** Without a trailing slash. The bucket's name follows it in the path. */
  readonly endpoint: string;
  readonly keys: AwsKeys;
}

const PLACE = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([A-Za-z0-9._/-]*))?$/;

/** `s3://bucket/prefix`. Names are limited to characters that need no encoding in a URL. */
export const bucketPlace = z.string().transform((value, ctx): BucketPlace => {
  const match = PLACE.exec(value);
  const prefix = (match?.[2] ?? "").replace(/^\/+|\/+$/g, "");
  if (match !== null && !prefix.split("/").some((part) => part === "." || part === "..") && !prefix.includes("//"))
    return { bucket: match[1] as string, prefix: prefix === "" ? "" : `${prefix}/` };
  ctx.addIssue({ code: "custom", message: "must be an address such as s3://bucket/prefix, of letters, digits and . _ - /" });
  return z.NEVER;
});

export const bucketEndpoint = z.string().transform((value, ctx) => {
  if (isWebAddress(value)) return value.replace(/\/+$/, "");
  ctx.addIssue({ code: "custom", message: "must be an address such as https://s3.example" });
  return z.NEVER;
});
