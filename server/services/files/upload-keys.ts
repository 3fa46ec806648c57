import { ABANDONED_MS } from "../../directory/files/stored-files.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { SecretBox } from "../../kernel/secrets.ts";
import { requestHolder } from "../../road/admission/request-holder.ts";
import { makeUploadToken } from "../../road/admission/upload-tokens.ts";
import type { Call } from "../../road/call.ts";

/** What lets the pieces of an upload in that come without a credential, as some of Google's clients send them. */
export class UploadKeys {
  private readonly parts: { readonly secrets: SecretBox; readonly clock: Clock };

  constructor(parts: UploadKeys["parts"]) {
    this.parts = parts;
  }

  /** For an upload that the call has begun; null where its credential can be shown by its caller alone. */
  keyOf(call: Call, uploadId: string): string | null {
    const { secrets, clock } = this.parts;
    const holder = requestHolder(call);
    return holder === null ? null : makeUploadToken(secrets, { uploadId, holder }, clock.now() + ABANDONED_MS);
  }
}
