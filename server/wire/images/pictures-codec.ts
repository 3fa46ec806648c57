import type { JsonValue } from "../../kernel/json-value.ts";
import type { ProviderOperation } from "../operation.ts";
import type { Usage } from "../usage.ts";

/** What was asked for, in no vendor's form. */
export interface PicturesAsked {
  readonly prompt: string;
  readonly count: number;
  /** Null where the model may choose. */
  readonly size: { readonly width: number; readonly height: number } | null;
  readonly quality: string | null;
  /** Pictures to be changed. */
  readonly shown: readonly { readonly mimeType: string; readonly base64: string }[];
  /** Names of what else the request says. */
  readonly others: readonly string[];
}

export interface PicturesProblem {
  readonly field: string;
  readonly message: string;
}

/** Pictures in a provider's own format. Pure, no I/O, never throws. */
export interface PicturesCodec {
  readonly operation: ProviderOperation;
  /** How much base64 of pictures to be changed goes into one request; null where it takes none. */
  readonly mostShown: number | null;
  /** `dropped`: members of the request that the provider does not know. */
  write(asked: PicturesAsked): { readonly body: string; readonly dropped: readonly string[] } | { readonly unsupported: PicturesProblem };
  /** Null when the answer is none. */
  read(answer: JsonValue): PicturesRead | null;
}

export interface PicturesRead {
  /** As base64. */
  readonly pictures: readonly string[];
  /** Null where the answer tells of no tokens. */
  readonly usage: Usage | null;
  /** Why fewer came than were asked for, in the provider's words. */
  readonly declined: string | null;
}
