import { Guarded } from "@gatehouse/web-kit/guarded.tsx";
import { clsx } from "clsx";
import {
  type ComponentProps,
  type CSSProperties,
  createContext,
  isValidElement,
  lazy,
  memo,
  type ReactNode,
  Suspense,
  useContext,
  useEffect,
  useMemo,
  useState,
} from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import rehypeSanitize from "rehype-sanitize";
import remarkGfm from "remark-gfm";
import remarkMath from "remark-math";
import { usePortalTexts } from "../translations.ts";
import { citedBy, remarkCitations } from "./citations.ts";
import { markdownPieces, type Piece } from "./markdown-pieces.ts";
import { withMathDelimiters } from "./math-delimiters.ts";

const HighlightedCode = lazy(() => import("./highlighted-code.tsx").then((module) => ({ default: module.HighlightedCode })));

const Maths = lazy(() => import("./maths.tsx").then((module) => ({ default: module.Maths })));

const MATH_LANGUAGE = "math";

const SAFE = /^(?:https?:|mailto:)/i;

function Code({ className, children, streaming }: ComponentProps<"code"> & { readonly streaming: boolean }): ReactNode {
  const language = /language-(\w+)/.exec(className ?? "")?.[1];
  const text = String(children);
  const plain = <code className="font-mono text-sm">{text}</code>;
  if (language === MATH_LANGUAGE && !streaming)
    return (
      <Guarded of={text} instead={plain}>
        <Suspense fallback={plain}>
          <Maths text={text.trim()} display={false} />
        </Suspense>
      </Guarded>
    );
  if (language === undefined && !text.includes("\n"))
    return <code className="rounded bg-sunken px-1.5 py-0.5 font-mono text-[0.875em]">{children}</code>;
  if (streaming || language === undefined) return plain;
  return (
    <Guarded of={text} instead={plain}>
      <Suspense fallback={plain}>
        <HighlightedCode text={text} language={language} />
      </Suspense>
    </Guarded>
  );
}

/** A code block, or a display formula. */
function Pre({ children, streaming }: { readonly children?: ReactNode; readonly streaming: boolean }): ReactNode {
  const { className, children: inner } = isValidElement<ComponentProps<"code">>(children) ? children.props : {};
  if (className?.includes(`language-${MATH_LANGUAGE}`) === true && !streaming)
    return (
      <Guarded of={String(inner)} instead={<pre className="my-3 overflow-x-auto font-mono text-sm">{String(inner)}</pre>}>
        <Suspense fallback={null}>
          <Maths text={String(inner).trim()} display />
        </Suspense>
      </Guarded>
    );
  return (
    <pre tabIndex={0} className="my-3 overflow-x-auto rounded-lg border border-line bg-sunken p-3">
      {children}
    </pre>
  );
}

/** Opens the source with a given number; null if nothing is cited. */
const OpenSource = createContext<((source: number) => void) | null>(null);

function Citation({ source }: { readonly source: number }): ReactNode {
  const t = usePortalTexts();
  const open = useContext(OpenSource);
  if (open === null) return <span>[{source}]</span>;
  return (
    <button
      type="button"
      aria-label={t("openSource", { number: source })}
      onClick={() => open(source)}
      className="mx-0.5 inline-flex min-h-6 min-w-6 items-center justify-center rounded bg-accent-soft px-1 text-[0.8em] font-medium text-accent"
    >
      {source}
    </button>
  );
}

/** Column alignment from the second line of a table. */
function aligned(style: CSSProperties | undefined): string {
  return style?.textAlign === "right" ? "text-end" : style?.textAlign === "center" ? "text-center" : "text-start";
}

function Table({ children }: { readonly children: ReactNode }): ReactNode {
  const t = usePortalTexts();
  return (
    <div tabIndex={0} role="region" aria-label={t("table")} className="my-3 overflow-x-auto">
      <table className="border-collapse text-sm wrap-break-word">{children}</table>
    </div>
  );
}

/** Text from models, tools and people is displayed, never interpreted: no HTML, no external images, only web links. */
function componentsFor(streaming: boolean): Components {
  return {
    a: ({ href, children }) => {
      const source = citedBy(href);
      if (source !== null) return <Citation source={source} />;
      return href !== undefined && SAFE.test(href) ? (
        <a href={href} title={href} target="_blank" rel="noopener noreferrer nofollow" className="text-accent underline">
          {children}
        </a>
      ) : (
        <span>{children}</span>
      );
    },
    img: ({ alt, src }) => <span className="text-muted">[{alt === undefined || alt === "" ? String(src ?? "") : alt}]</span>,
    code: ({ className, children }) => (
      <Code className={className} streaming={streaming}>
        {children}
      </Code>
    ),
    pre: ({ children }) => <Pre streaming={streaming}>{children}</Pre>,
    table: ({ children }) => <Table>{children}</Table>,
    th: ({ children, style }) => <th className={clsx("border border-line bg-sunken px-3 py-1.5", aligned(style))}>{children}</th>,
    td: ({ children, style }) => <td className={clsx("border border-line px-3 py-1.5", aligned(style))}>{children}</td>,
    p: ({ children }) => <p className="my-2">{children}</p>,
    ul: ({ children }) => <ul className="my-2 list-disc ps-6">{children}</ul>,
    ol: ({ children, start }) => (
      <ol start={start} className="my-2 list-decimal ps-6">
        {children}
      </ol>
    ),
    blockquote: ({ children }) => <blockquote className="my-3 border-s-4 border-line ps-4 text-muted">{children}</blockquote>,
    // Headings in an answer are not headings of the page.
    ...Object.fromEntries(
      ["h1", "h2", "h3", "h4", "h5", "h6"].map((name, at) => [
        name,
        ({ children }: { readonly children?: ReactNode }) => (
          <p className={clsx("mt-4 mb-2 font-semibold", at < 2 ? "text-lg" : "text-base")}>{children}</p>
        ),
      ]),
    ),
    hr: () => <hr className="my-4 border-line" />,
    input: ({ checked }) => <span aria-hidden>{checked === true ? "☑ " : "☐ "}</span>,
  };
}

const PLUGINS: ComponentProps<typeof ReactMarkdown>["remarkPlugins"] = [remarkGfm, [remarkMath, { singleDollarTextMath: false }]];
const WHOLE = componentsFor(false);
const COMING = componentsFor(true);

/** Milliseconds that one answer may block the page at a time and in total; the rest is shown as plain text. */
const AT_ONCE_MS = 100;
const IN_ALL_MS = 1_500;
const PAUSE_MS = 30;
/** Most blocks added at once: cached blocks need no parsing, but still have to be laid out. */
const MAX_MORE = 300;

interface BlockProps {
  readonly text: string;
  readonly drawn: ReactNode;
}

const Block = memo(function Block({ text, drawn }: BlockProps): ReactNode {
  return (
    <Guarded of={text} instead={<AsWritten text={text} />}>
      {drawn}
    </Guarded>
  );
});

const AsWritten = ({ text }: { readonly text: string }): ReactNode => <p className="my-2 break-words whitespace-pre-wrap">{text}</p>;

/** Renders one block. Deeply nested input can overflow the parser's stack. */
function drawnBlock(text: string, streaming: boolean, sources: number): ReactNode {
  try {
    return ReactMarkdown({
      remarkPlugins: sources === 0 ? PLUGINS : [...(PLUGINS ?? []), [remarkCitations, { most: sources }]],
      rehypePlugins: [rehypeSanitize],
      components: streaming ? COMING : WHOLE,
      children: withMathDelimiters(text),
    });
  } catch {
    return <AsWritten text={text} />;
  }
}

interface MarkdownProps {
  readonly text: string;
  readonly streaming?: boolean;
  readonly sources?: number;
  readonly onSource?: (source: number) => void;
}

interface Drawn extends BlockProps {
  readonly streaming: boolean;
  readonly sources: number;
}

/** The rendered blocks of one answer, and the time spent on them. */
class Drawing {
  private known = new Map<string, Drawn>();
  private spentMs = 0;
  private shown = 0;
  /** The last block of a streaming answer is rendered again with each word. */
  private growing = { at: -1, ms: 0 };

  /**
   * Renders blocks in order while there is time, and the rest as plain text. A block already rendered during streaming stays. `isOver`:
   * nothing more will be rendered.
   */
  next(pieces: readonly Piece[], streaming: boolean, sources: number) {
    const began = performance.now();
    const blocks: Drawn[] = [];
    let isWhole = true;
    for (const [at, piece] of pieces.entries()) {
      if (at >= this.shown + MAX_MORE) {
        isWhole = false;
        break;
      }
      const before = this.known.get(piece.text);
      if (before?.streaming === streaming && before.sources === sources) {
        blocks.push(before);
        continue;
      }
      const soFar = performance.now() - began;
      if (soFar > AT_ONCE_MS || this.spentMs + soFar > IN_ALL_MS) {
        isWhole = false;
        if (before === undefined) break;
        blocks.push(before);
      } else
        blocks.push({
          text: piece.text,
          drawn: this.one(piece, streaming && at === pieces.length - 1 ? at : -1, streaming, sources),
          streaming,
          sources,
        });
    }
    this.shown = blocks.length;
    this.known = new Map(blocks.map((block) => [block.text, block]));
    const rest = pieces
      .slice(blocks.length)
      .map(({ text }) => text)
      .join("\n\n");
    return { blocks, rest, began, isOver: isWhole || this.spentMs > IN_ALL_MS };
  }

  /** `growsAt`: position of the last block of a streaming answer. */
  private one({ text, isPlain }: Piece, growsAt: number, streaming: boolean, sources: number): ReactNode {
    if (isPlain || (growsAt >= 0 && this.growing.at === growsAt && this.growing.ms > AT_ONCE_MS)) return <AsWritten text={text} />;
    const began = performance.now();
    const drawn = drawnBlock(text, streaming, sources);
    if (growsAt >= 0) this.growing = { at: growsAt, ms: performance.now() - began };
    return drawn;
  }

  /** Records the time rendering and layout took, in milliseconds. */
  spent(ms: number): void {
    this.spentMs += ms;
  }
}

/** Renders Markdown of any length in small steps, so that the page stays responsive. */
export function Markdown({ text, streaming = false, sources = 0, onSource }: MarkdownProps): ReactNode {
  const [drawing] = useState(() => new Drawing());
  const [turn, setTurn] = useState(0);
  const pieces = useMemo(() => markdownPieces(text), [text]);
  const { blocks, rest, began, isOver } = useMemo(
    () => drawing.next(pieces, streaming, sources),
    [drawing, pieces, streaming, sources, turn],
  );
  useEffect(() => {
    if (isOver) return undefined;
    // Runs after layout, which for long text takes longer than rendering.
    const timer = setTimeout(() => {
      drawing.spent(performance.now() - began - PAUSE_MS);
      setTurn((before) => before + 1);
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [drawing, began, isOver]);
  return (
    <OpenSource value={onSource ?? null}>
      <div dir="auto" className="min-w-0">
        {blocks.map(({ text: of, drawn }, at) => (
          <Block key={at} text={of} drawn={drawn} />
        ))}
        {rest !== "" && <AsWritten text={rest} />}
      </div>
    </OpenSource>
  );
}
