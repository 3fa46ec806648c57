import { type ReactNode, useEffect, useRef } from "react";
import { Mark } from "./app-shell.tsx";

interface SignInFrameProps {
  readonly product: string;
  readonly title: string;
  readonly lead?: ReactNode;
  /** Shown below the card, such as the language selector. */
  readonly foot?: ReactNode;
  readonly children: ReactNode;
}

/** The frame of pages shown before sign-in. */
export function SignInFrame({ product, title, lead, foot, children }: SignInFrameProps): ReactNode {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · ${product}`;
    // A form that begins with a field has already focused it.
    if (!(document.activeElement instanceof HTMLInputElement)) heading.current?.focus({ preventScroll: true });
  }, [title, product]);
  return (
    <main className="grid min-h-dvh content-center justify-items-center gap-6 px-4 py-10">
      <Mark product={product} />
      <section className="grid w-full max-w-sm gap-5 rounded-2xl border border-line bg-surface p-6 shadow-pop sm:p-8">
        <div className="grid gap-1">
          <h1 ref={heading} tabIndex={-1} className="text-xl font-semibold tracking-tight">
            {title}
          </h1>
          {lead !== undefined && <p className="text-muted">{lead}</p>}
        </div>
        {children}
      </section>
      {foot}
    </main>
  );
}
