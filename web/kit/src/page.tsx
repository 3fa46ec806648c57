import { clsx } from "clsx";
import { type ReactNode, useEffect, useRef } from "react";

interface PageProps {
  readonly title: string;
  readonly lead?: ReactNode;
  /** Buttons next to the title. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  /** For text, for forms and panels, or for tables with many columns. */
  readonly width?: "reading" | "wide" | "table";
  readonly product: string;
}

const WIDTHS = { reading: "max-w-3xl", wide: "max-w-6xl", table: "max-w-[110rem]" } as const;

/** One view. On navigation the focus moves to its title. */
export function PageFrame({ title, lead, actions, children, width = "wide", product }: PageProps): ReactNode {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · ${product}`;
  }, [title, product]);
  useEffect(() => {
    heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <div className={clsx("mx-auto w-full px-4 py-6 sm:px-8 sm:py-8", WIDTHS[width])}>
      <header className="mb-6 flex flex-wrap items-start justify-between gap-4">
        <div className="grid gap-1">
          <h1 ref={heading} tabIndex={-1} className="text-2xl font-semibold tracking-tight">
            {title}
          </h1>
          {lead !== undefined && <p className="max-w-prose text-muted">{lead}</p>}
        </div>
        {actions !== undefined && <div className="flex flex-wrap gap-2">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

/** A titled section of a page. */
export function Panel({
  title,
  actions,
  children,
}: {
  readonly title?: string;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <section className="rounded-xl border border-line bg-surface p-4 sm:p-5">
      {(title !== undefined || actions !== undefined) && (
        <div className="mb-4 flex flex-wrap items-center justify-between gap-2">
          {title !== undefined && (
            <h2 dir="auto" className="min-w-0 text-base font-semibold wrap-anywhere">
              {title}
            </h2>
          )}
          {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
        </div>
      )}
      {children}
    </section>
  );
}

type Tone = "neutral" | "good" | "warn" | "bad" | "accent";

const TONES: Readonly<Record<Tone, string>> = {
  neutral: "bg-sunken text-ink",
  good: "bg-good-soft text-good",
  warn: "bg-warn-soft text-warn",
  bad: "bg-bad-soft text-bad",
  accent: "bg-accent-soft text-accent",
};

/** A status in a word. Color alone never carries the meaning. */
export function Badge({ tone = "neutral", children }: { readonly tone?: Tone; readonly children: ReactNode }): ReactNode {
  return (
    <span className={clsx("inline-flex items-center gap-1 rounded-full px-2.5 py-0.5 text-xs font-medium", TONES[tone])}>{children}</span>
  );
}

/** A list of names and values. */
export function Facts({ items }: { readonly items: readonly (readonly [name: string, value: ReactNode])[] }): ReactNode {
  return (
    <dl className="grid gap-x-6 gap-y-2 sm:grid-cols-[max-content_1fr]">
      {items.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-sm text-muted">{name}</dt>
          <dd className="mb-1 sm:mb-0">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
