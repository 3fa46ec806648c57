/**
 * Splits growing text into blocks that can be parsed independently, so that only the last is parsed again while an answer streams. An open
 * code or formula fence extends to the end.
 */
export function markdownBlocks(text: string): readonly string[] {
  const blocks: string[] = [];
  let lines: string[] = [];
  let fence: string | null = null;
  const end = () => {
    if (lines.some((line) => line.trim() !== "")) blocks.push(lines.join("\n"));
    lines = [];
  };
  for (const line of text.split("\n")) {
    const mark = /^ {0,3}(`{3,}|~{3,}|\$\$(?=\s*$))/.exec(line)?.[1];
    if (fence === null && mark !== undefined) fence = mark;
    else if (fence !== null && mark !== undefined && mark.startsWith(fence) && line.trim() === mark) {
      lines.push(line);
      end();
      fence = null;
      continue;
    }
    // Indented lines belong to what precedes them, so a list stays together with its nested content.
    if (
      fence === null &&
      line.trim() === "" &&
      !/^\s*(?:[-*+]|\d+[.)]|>|\|)/.test(lines.at(-1) ?? "") &&
      !/^\s{2,}/.test(lines.at(-1) ?? "")
    ) {
      end();
      continue;
    }
    lines.push(line);
  }
  end();
  return blocks;
}
