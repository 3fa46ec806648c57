/** A request as the reader's own program would send it. */
export interface SampleRequest {
  readonly method: string;
  /** Absolute, including its query. */
  readonly url: string;
  /** Environment variable with the token for `Authorization: Bearer`; null if the operation needs no authentication. */
  readonly credential: string | null;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: SampleBody | null;
}

export type SampleBody =
  | { readonly kind: "json"; readonly text: string }
  /** `files` are the names of the file parts. */
  | { readonly kind: "form"; readonly fields: readonly (readonly [name: string, value: string])[]; readonly files: readonly string[] };

export const FILE_IN_SAMPLES = "file.bin";

/** The parsed JSON; undefined if the text is not JSON. */
export function jsonValue(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Whether parsing and serializing would change digits of a number; such JSON is sent as text. */
export function keepsDigits(text: string): boolean {
  return (text.match(/-?\d[\d.eE+-]*/g) ?? []).every((number) => number.length < 16);
}

export function indented(text: string, by: string): string {
  return text.replaceAll("\n", `\n${by}`);
}

export function asksForStream(body: SampleBody | null): boolean {
  const value = body?.kind === "json" ? jsonValue(body.text) : undefined;
  return (value as { stream?: unknown } | null | undefined)?.stream === true;
}
