/**
 * The blocks of a text that grows: each is what markdown makes of it alone, so that while an answer comes only the last is
 * read again. A fence that is open, of code or of a formula, keeps everything after it.
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
    // A list and what hangs in it stay together: a line that is indented belongs to what stands before.
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
