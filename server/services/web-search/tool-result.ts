import type { JsonObject } from "../../kernel/json-value.ts";

/** The result of one of the server's tools. */
export interface ToolResult {
  readonly text: string;
  /** The same content in structured form; null for a failure. */
  readonly structured: JsonObject | null;
}

/** Failures are reported in the result rather than as protocol errors, so that the calling model can react. */
export const toolFailure = (text: string): ToolResult => ({ text, structured: null });

export const resultOf = ({ text, structured }: ToolResult): JsonObject => ({
  resultType: "complete",
  content: [{ type: "text", text }],
  ...(structured === null ? { isError: true } : { structuredContent: structured }),
});
