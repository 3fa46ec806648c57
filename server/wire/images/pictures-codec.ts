import type { JsonValue } from "../../kernel/json-value.ts";
import type { ProviderOperation } from "../operation.ts";
import type { Usage } from "../usage.ts";

/** An image request independent of the vendor. */
export interface PicturesRequested {
  readonly prompt: string;
  readonly count: number;
  /** Null if the model may choose. */
  readonly size: { readonly width: number; readonly height: number } | null;
  readonly quality: string | null;
  /** Input images to be edited. */
  readonly shown: readonly { readonly mimeType: string; readonly base64: string }[];
  /** The names of the remaining members of the request. */
  readonly others: readonly string[];
}

export interface PicturesProblem {
  readonly field: string;
  readonly message: string;
}

/** Image requests and answers in a provider's format. Pure, without I/O; never throws. */
export interface PicturesCodec {
  readonly operation: ProviderOperation;
  /** The maximum base64 of input images per request; null if it accepts none. */
  readonly mostShown: number | null;
  /** `dropped` are members of the request that the provider does not support. */
  write(
    requested: PicturesRequested,
  ): { readonly body: string; readonly dropped: readonly string[] } | { readonly unsupported: PicturesProblem };
  /** Null if the answer is invalid. */
  read(answer: JsonValue): PicturesRead | null;
}

export interface PicturesRead {
  /** In base64. */
  readonly pictures: readonly string[];
  /** Null if the answer reports no tokens. */
  readonly usage: Usage | null;
  /** Why fewer images came than were requested, in the provider's words. */
  readonly declined: string | null;
}
