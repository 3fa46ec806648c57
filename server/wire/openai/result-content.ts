import type { ToolResultPart } from "../conversation/conversation-parts.ts";

const SAYS_SO = /^\W*error/i;

/** A tool's result. OpenAI's formats cannot mark a failure, so it is added to the text unless that already says it. */
export function resultContent({ content, isError }: ToolResultPart): ToolResultPart["content"] {
  const [first, ...rest] = content;
  if (!isError || (first?.kind === "text" && SAYS_SO.test(first.text))) return content;
  return first?.kind === "text" && first.text.trim() !== ""
    ? [{ ...first, text: `Error: ${first.text}` }, ...rest]
    : [{ kind: "text", text: "Error" }, ...content];
}
