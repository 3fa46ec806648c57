import { ABANDONED_MS } from "../../directory/files/stored-files.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { SecretBox } from "../../kernel/secrets.ts";
import { requestHolder } from "../../road/admission/request-holder.ts";
import { makeUploadToken } from "../../road/admission/upload-tokens.ts";
import type { Call } from "../../road/call.ts";

/** Keys for an upload's URL, for clients (some of Google's) that send the pieces without a credential. */
export class UploadKeys {
  private readonly parts: { readonly secrets: SecretBox; readonly clock: Clock };

  constructor(parts: UploadKeys["parts"]) {
    this.parts = parts;
  }

  /** A key for an upload that the call started; null if the call's credential cannot be used by anyone but its caller. */
  keyOf(call: Call, uploadId: string): string | null {
    const { secrets, clock } = this.parts;
    const holder = requestHolder(call);
    return holder === null ? null : makeUploadToken(secrets, { uploadId, holder }, clock.now() + ABANDONED_MS);
  }
}
