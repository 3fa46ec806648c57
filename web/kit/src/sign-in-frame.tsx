import { type ReactNode, useEffect, useRef } from "react";
import { Mark } from "./app-shell.tsx";

interface SignInFrameProps {
  readonly product: string;
  readonly title: string;
  readonly lead?: ReactNode;
  /** Below the card: the language, for example. */
  readonly foot?: ReactNode;
  readonly children: ReactNode;
}

/** What is seen before anybody is signed in. */
export function SignInFrame({ product, title, lead, foot, children }: SignInFrameProps): ReactNode {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · ${product}`;
    // A form that begins with a field has the focus there already.
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
