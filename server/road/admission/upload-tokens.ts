import type { SecretBox } from "../../kernel/secrets.ts";
import { openEnvelope, sealEnvelope } from "./envelope.ts";
import type { Holder } from "./gateway-tokens.ts";

/** Tokens in upload URLs. Each admits the chunks of one upload on behalf of the holder who began it. */

const UPLOAD = "gwu_";

interface UploadClaims {
  readonly uploadId: string;
  readonly holder: Holder;
}

export function looksLikeUploadToken(text: string): boolean {
  return text.startsWith(UPLOAD);
}

/** `until`: milliseconds since the epoch. */
export function makeUploadToken(secrets: SecretBox, claims: UploadClaims, until: number): string {
  return UPLOAD + sealEnvelope(secrets, "upload", "", claims, until);
}

/** Null if it is not an upload token of this gateway or has expired. */
export function readUploadToken(secrets: SecretBox, text: string, now: number): UploadClaims | null {
  if (!looksLikeUploadToken(text)) return null;
  return openEnvelope<UploadClaims>(secrets, "upload", "", text.slice(UPLOAD.length), now);
}
