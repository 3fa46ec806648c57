/** The parts of a Markdown tree needed here. */
interface MarkdownNode {
  readonly type: string;
  readonly value?: string;
  readonly label?: string | null;
  readonly identifier?: string;
  readonly url?: string;
  children?: MarkdownNode[];
}

const ADDRESS = "#source-";
const NUMBER = /\[(\d{1,3})\]/g;
/** Nodes that are links or code and are left unchanged. */
const LEFT_ALONE = new Set(["link", "code", "inlineCode", "html", "math", "inlineMath"]);

/** The citation number of a link made by `remarkCitations`; null for other links. */
export function citedBy(href: string | undefined): number | null {
  const found = href?.startsWith(ADDRESS) === true ? Number(href.slice(ADDRESS.length)) : Number.NaN;
  return Number.isInteger(found) && found > 0 ? found : null;
}

const citation = (number: number): MarkdownNode => ({
  type: "link",
  url: `${ADDRESS}${number}`,
  children: [{ type: "text", value: String(number) }],
});

function pieces(text: string, most: number): MarkdownNode[] {
  const nodes: MarkdownNode[] = [];
  let from = 0;
  for (const found of text.matchAll(NUMBER)) {
    const number = Number(found[1]);
    if (number < 1 || number > most) continue;
    if (found.index > from) nodes.push({ type: "text", value: text.slice(from, found.index) });
    nodes.push(citation(number));
    from = found.index + found[0].length;
  }
  if (from < text.length) nodes.push({ type: "text", value: text.slice(from) });
  return nodes;
}

/**
 * Remark plugin that turns numbers in brackets up to `most` into citation links, replacing any target the answer gave: only the gateway
 * says what a source is.
 */
export function remarkCitations({ most }: { readonly most: number }): (tree: MarkdownNode) => void {
  const walk = (node: MarkdownNode): void => {
    node.children = node.children?.flatMap((child) => {
      const referred = child.type === "linkReference" ? Number(child.label ?? child.identifier) : Number.NaN;
      if (Number.isInteger(referred) && referred >= 1 && referred <= most) return [citation(referred)];
      if (child.type === "text") return pieces(child.value ?? "", most);
      if (!LEFT_ALONE.has(child.type)) walk(child);
      return [child];
    });
  };
  return walk;
}
