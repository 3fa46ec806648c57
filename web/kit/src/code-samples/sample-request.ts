/** A request as a program of the reader's would make it. */
export interface SampleRequest {
  readonly method: string;
  /** Whole, with its query. */
  readonly url: string;
  /** Of the environment, for `Authorization: Bearer`; null where nobody is asked who they are. */
  readonly credential: string | null;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: SampleBody | null;
}

export type SampleBody =
  | { readonly kind: "json"; readonly text: string }
  /** `files` are names of parts that hold one. */
  | { readonly kind: "form"; readonly fields: readonly (readonly [name: string, value: string])[]; readonly files: readonly string[] };

export const FILE_IN_SAMPLES = "file.bin";

/** What the text says where it is JSON; undefined where it is none. */
export function jsonValue(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Whether digits of it would change on the way through a program's numbers: such JSON is sent as text. */
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
