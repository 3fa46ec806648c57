import type { Loose } from "./loose.ts";
import { STRUCTURED, TOOL } from "./scene.ts";
import type { Feature } from "./matrix.ts";

export const PROMPT = "Hi there";
export const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
export const PIXEL_URL = `data:image/png;base64,${PIXEL}`;

export const TOOL_DESCRIPTION = "The weather of a city.";
export const TOOL_SCHEMA = {
  type: "object" as const,
  properties: { city: { type: "string" as const } },
  required: ["city"],
  additionalProperties: false,
};
export const ANSWER_SCHEMA = {
  type: "object" as const,
  properties: { city: { type: "string" as const }, degrees: { type: "number" as const } },
  required: Object.keys(STRUCTURED),
  additionalProperties: false,
};
export const TOOL_NAME: string = TOOL.name;

/** What a client's user gets from an answer, in a common form. */
export interface SdkAnswer {
  readonly text: string;
  readonly tool: { readonly name: string; readonly arguments: unknown } | null;
}

/** An official client, unchanged except for base URL and key. */
export interface Sdk {
  ask(model: string, feature: Feature, stream: boolean): Promise<SdkAnswer>;
  /** The HTTP status of the client's own error class; null for any other error. */
  statusOf(error: unknown): number | null;
}

export function sdkAnswer(text: string | null | undefined, tool: { name: string; arguments: unknown } | null = null): SdkAnswer {
  return { text: text ?? "", tool };
}

export function parsed(name: string | undefined, text: string | undefined): { name: string; arguments: unknown } | null {
  return name === undefined ? null : { name, arguments: JSON.parse(text ?? "") as Loose };
}
