import { Link, useRouterState } from "@tanstack/react-router";
import { clsx } from "clsx";
import { type LucideIcon, Menu, X } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { IconButton } from "./button.tsx";

export interface NavigationItem {
  readonly to: string;
  readonly label: string;
  readonly icon: LucideIcon;
  /** Number of waiting items, shown as a badge. */
  readonly count?: number;
}

export interface NavigationGroup {
  readonly label?: string;
  readonly items: readonly NavigationItem[];
}

interface AppShellProps {
  readonly product: string;
  readonly navigation: readonly NavigationGroup[];
  readonly labels: { readonly skip: string; readonly navigation: string; readonly openMenu: string; readonly closeMenu: string };
  /** Shown at the top right: search, notifications, account menu. */
  readonly tools: ReactNode;
  readonly children: ReactNode;
}

function NavigationLink({ to, label, icon: Icon, count }: NavigationItem): ReactNode {
  return (
    <Link
      to={to}
      className="flex min-h-9 items-center gap-3 rounded-lg px-3 py-1.5 text-sm font-medium text-muted hover:bg-sunken hover:text-ink"
      activeProps={{ className: "!bg-accent-soft !text-accent-strong", "aria-current": "page" }}
    >
      <Icon aria-hidden size={18} className="shrink-0" />
      <span className="grow">{label}</span>
      {count !== undefined && count > 0 && (
        <span className="rounded-full bg-accent px-2 text-xs font-semibold text-on-accent tabular-nums">{count}</span>
      )}
    </Link>
  );
}

export function Mark({ product }: { readonly product: string }): ReactNode {
  return (
    <span className="flex min-w-0 items-center gap-2.5 font-semibold tracking-tight">
      <svg aria-hidden viewBox="0 0 32 32" className="size-7 shrink-0">
        <rect width="32" height="32" rx="7" className="fill-accent" />
        <path d="M8 25V13l8-6 8 6v12h-5v-7a3 3 0 0 0-6 0v7z" className="fill-on-accent" />
      </svg>
      <span className="truncate max-[26rem]:sr-only">{product}</span>
    </span>
  );
}

/** The frame around every page: navigation, and who is signed in. Collapses on narrow screens. */
export function AppShell({ product, navigation, labels, tools, children }: AppShellProps): ReactNode {
  const [open, setOpen] = useState(false);
  const path = useRouterState({ select: (state) => state.location.pathname });
  const links = useRef<HTMLElement>(null);
  useEffect(() => setOpen(false), [path]);
  // The link of a page that was opened by its address may be far down in the list.
  useEffect(() => {
    void links.current?.querySelector("[aria-current=page]")?.scrollIntoView({ block: "nearest" });
  }, [path, open]);
  useEffect(() => {
    if (!open) return undefined;
    const close = (event: KeyboardEvent) => event.key === "Escape" && setOpen(false);
    window.addEventListener("keydown", close);
    return () => window.removeEventListener("keydown", close);
  }, [open]);
  return (
    <div className="grid min-h-dvh grid-cols-1 grid-rows-[auto_1fr] lg:grid-cols-[15.5rem_minmax(0,1fr)]">
      <a
        href="#content"
        className="sr-only z-50 rounded bg-accent px-3 py-2 text-on-accent focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
      >
        {labels.skip}
      </a>
      <header
        data-print="hide"
        className="sticky top-0 z-30 flex h-14 items-center gap-3 border-b border-line bg-surface px-4 lg:col-span-2 lg:px-5"
      >
        <IconButton
          icon={open ? X : Menu}
          label={open ? labels.closeMenu : labels.openMenu}
          aria-expanded={open}
          aria-controls="navigation"
          className="lg:hidden"
          onClick={() => setOpen(!open)}
        />
        <Mark product={product} />
        <div className="ml-auto flex min-w-0 items-center gap-1">{tools}</div>
      </header>
      <nav
        ref={links}
        id="navigation"
        aria-label={labels.navigation}
        data-print="hide"
        className={clsx(
          "fixed inset-x-0 top-14 bottom-0 z-20 overflow-y-auto border-r border-line bg-surface p-3 lg:sticky lg:block lg:h-[calc(100dvh-3.5rem)]",
          open ? "block" : "hidden",
        )}
      >
        {navigation.map(({ label, items }, at) => (
          <div key={label ?? at} className="mb-4 grid gap-0.5">
            {label !== undefined && <p className="px-3 pb-1 text-xs font-semibold tracking-wide text-muted uppercase">{label}</p>}
            {items.map((item) => (
              <NavigationLink key={item.to} {...item} />
            ))}
          </div>
        ))}
      </nav>
      <main id="content" tabIndex={-1} className="min-w-0">
        {children}
      </main>
    </div>
  );
}
