import { type FieldProblem, JsonDocument } from "../document.ts";
import type { Pictures, TextSlot } from "../inbound.ts";
import { modelProblems, PromptedRequest } from "../prompted-request.ts";

/** OpenAI's own image models give bytes always and refuse to be asked for them. */
const ALWAYS_BYTES = /(^|\/)(gpt-image|chatgpt-image)/;
/** Members that only the gateway reads. */
const OURS = ["chat_id", "display_name"];
const MAX_IMAGES = 10;
/** The largest picture that any model served here draws, in pixels. */
const LARGEST = 3840 * 2160;
/** Fewer than any vendor's finest quality spends on a token. */
const PIXELS_PER_TOKEN = 200;

/** POST /images/generations as OpenAI's clients send it. */
export class ImagesRequest extends PromptedRequest {
  readonly names = { temperature: "temperature", maxTokens: "max_tokens", input: "prompt" };

  get quality(): string | null {
    return (this.document.value.quality as string | null | undefined) ?? null;
  }

  get pictures(): Pictures {
    const { n, size } = this.document.value;
    const [, width, height] = /^(\d+)x(\d+)$/.exec((size as string | null | undefined) ?? "") ?? [];
    const pixels = width === undefined ? LARGEST : Number(width) * Number(height);
    return { count: (n as number | null | undefined) ?? 1, tokensEach: Math.ceil(pixels / PIXELS_PER_TOKEN) };
  }

  override get candidates(): number {
    return this.pictures.count;
  }

  texts(): readonly TextSlot[] {
    const text = this.document.value.prompt as string;
    return [{ role: "user", kind: "text", text, replace: (value) => this.document.set("prompt", value) }];
  }

  override outbound(changes: { readonly model: string }): string {
    const edits = new Map<string, string | null>();
    for (const name of OURS) if (this.document.has(name)) edits.set(name, null);
    const { response_format } = this.document.value;
    if (!ALWAYS_BYTES.test(changes.model)) {
      if (response_format !== "b64_json") edits.set("response_format", '"b64_json"');
    } else if (this.document.has("response_format")) edits.set("response_format", null);
    return super.outbound(changes, edits);
  }
}

/** Each problem names its field. */
export function readImagesRequest(bytes: Uint8Array): ImagesRequest | { readonly fields: readonly FieldProblem[] } {
  const document = JsonDocument.read(bytes);
  if (!(document instanceof JsonDocument)) return { fields: [document] };
  const fields = modelProblems(document);
  const { prompt, n, size, quality, style, response_format: format, stream } = document.value;
  const said = (value: unknown) => value !== undefined && value !== null;
  const check = (field: string, good: boolean, message: string) => {
    if (!good) fields.push({ field, message });
  };
  check("prompt", typeof prompt === "string" && prompt.trim() !== "", "must be a text that is not empty");
  check("n", !said(n) || (Number.isInteger(n) && (n as number) >= 1 && (n as number) <= MAX_IMAGES), `must be from 1 to ${MAX_IMAGES}`);
  check(
    "size",
    !said(size) || size === "auto" || (typeof size === "string" && /^[1-9]\d{0,4}x[1-9]\d{0,4}$/.test(size)),
    'must be "auto" or WIDTHxHEIGHT',
  );
  check("quality", !said(quality) || (typeof quality === "string" && quality !== ""), "must be a text");
  check("style", !said(style) || style === "vivid" || style === "natural", "must be vivid or natural");
  check("response_format", !said(format) || format === "b64_json", "must be b64_json: pictures are given as bytes");
  check("stream", !said(stream) || stream === false, "must be false: pictures are given whole");
  for (const name of OURS) {
    const value = document.value[name];
    check(name, !said(value) || (typeof value === "string" && value.length <= 255), "must be a text of at most 255 characters");
  }
  return fields.length > 0 ? { fields } : new ImagesRequest(document);
}
