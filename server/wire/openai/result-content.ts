import type { ToolResultPart } from "../conversation/conversation-parts.ts";

const SAYS_SO = /^\W*error/i;

/** What a tool gave back. OpenAI's formats have no mark for a failure, so its text says it where it did not. */
export function resultContent({ content, isError }: ToolResultPart): ToolResultPart["content"] {
  const [first, ...rest] = content;
  if (!isError || (first?.kind === "text" && SAYS_SO.test(first.text))) return content;
  return first?.kind === "text" && first.text.trim() !== ""
    ? [{ ...first, text: `Error: ${first.text}` }, ...rest]
    : [{ kind: "text", text: "Error" }, ...content];
}
