import type { OutboundBytes } from "../../kernel/http/outbound-bytes.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import type { JsonDocument } from "../json/document.ts";
import { formBody } from "../http/form-body.ts";
import type { OutboundChanges, TextSlot } from "../inbound.ts";
import type { Pictures } from "../media-request.ts";
import { type SentFile, sentNames } from "../http/sent-file.ts";
import { givesBytesAlways } from "./images-request.ts";
import { OURS, PicturesRequest } from "./pictures-request.ts";

/** The form of POST /images/edits in OpenAI's format. */
export class ImageEditRequest extends PicturesRequest {
  readonly operation = "image_edits";
  readonly files: readonly SentFile[];
  private readonly formBytes: number;

  constructor(document: JsonDocument, files: readonly SentFile[], formBytes: number) {
    super(document);
    this.files = files;
    this.formBytes = formBytes;
  }

  override get pictures(): Pictures {
    const bytes = this.files.reduce((sum, { file }) => sum + file.bytes, 0);
    return { ...super.pictures, shown: { count: this.files.length, textBytes: Math.max(0, this.formBytes - bytes) } };
  }

  get masked(): boolean {
    return this.files.some(({ field }) => field === "mask");
  }

  override definitions(): readonly TextSlot[] {
    return sentNames(this.files);
  }

  /** The form as JSON for the audit record, with hashes in place of images. */
  override outbound({ model }: Pick<OutboundChanges, "model">): string {
    const files = this.files.map(({ field, file }) => ({ field, mime_type: file.mimeType, size_bytes: file.bytes, sha256: file.hash }));
    return JSON.stringify({ ...this.sent(model), files });
  }

  form({ model }: Pick<OutboundChanges, "model">): OutboundBytes {
    const fields = Object.entries(this.sent(model)).map(([name, value]) => [name, String(value)] as const);
    const several = this.files.filter(({ field }) => field !== "mask").length > 1;
    return formBody(
      fields,
      this.files.map((sent) => ({ ...sent, field: sent.field === "mask" ? sent.field : several ? "image[]" : "image" })),
    );
  }

  private sent(model: string): JsonObject {
    const sent: JsonObject = { ...this.document.value, model };
    for (const name of [...OURS, "model_id"]) delete sent[name];
    if (givesBytesAlways(model)) delete sent.response_format;
    else sent.response_format = "b64_json";
    return sent;
  }
}
