import type { JsonObject } from "../../kernel/json-value.ts";

/** What a tool of the server's gives its caller. */
export interface ToolResult {
  readonly text: string;
  /** The same for programs; null of a failure. */
  readonly structured: JsonObject | null;
}

/** A failure is told in the result, so that the model that called can do something about it. */
export const toolFailure = (text: string): ToolResult => ({ text, structured: null });

export const resultOf = ({ text, structured }: ToolResult): JsonObject => ({
  resultType: "complete",
  content: [{ type: "text", text }],
  ...(structured === null ? { isError: true } : { structuredContent: structured }),
});
