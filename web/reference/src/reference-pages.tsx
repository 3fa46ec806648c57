import { Mark } from "@gatehouse/web-kit/app-shell.tsx";
import { IconButton } from "@gatehouse/web-kit/button.tsx";
import { MenuButton } from "@gatehouse/web-kit/menu.tsx";
import { chooseTheme } from "@gatehouse/web-kit/theme.ts";
import { clsx } from "clsx";
import { Menu, Monitor, Moon, Sun, SunMoon, X } from "lucide-react";
import { type ReactNode, useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { type ApiArea, areasOf, type Operation, type PlaneDocument } from "./document/api-document.ts";
import { type SchemaReader, schemaReader } from "./document/schema-reader.ts";
import { OperationList } from "./operation-list.tsx";
import { OperationPage } from "./operation/operation-page.tsx";
import { AreaOverview } from "./area-overview.tsx";
import { PRODUCT_NAME } from "./product-name.ts";
import { useCaller } from "./use-caller.ts";

function followHash(changed: () => void): () => void {
  window.addEventListener("hashchange", changed);
  return () => window.removeEventListener("hashchange", changed);
}

const THEMES = [
  { label: "Light theme", icon: Sun, onSelect: () => chooseTheme("light") },
  { label: "Dark theme", icon: Moon, onSelect: () => chooseTheme("dark") },
  { label: "Theme of the system", icon: Monitor, onSelect: () => chooseTheme("system") },
];

/** The URL fragment names what is shown: an operation ID or an area. */
export function ReferencePages({ document: api }: { readonly document: PlaneDocument }): ReactNode {
  const areas = useMemo(() => areasOf(api), [api]);
  const reader = useMemo(() => schemaReader(api.components.schemas ?? {}), [api]);
  const hash = useSyncExternalStore(followHash, () => decodeURIComponent(location.hash.slice(1)));
  const [open, setOpen] = useState(false);
  useEffect(() => {
    setOpen(false);
    window.scrollTo({ top: 0, behavior: "instant" });
  }, [hash]);
  const operation = areas.flatMap(({ operations }) => operations).find(({ id }) => id === hash);
  const area = areas.find(({ slug, operations }) => slug === hash || operations.some(({ id }) => id === hash)) ?? areas[0];
  if (area === undefined) return null;
  return (
    <div className="grid min-h-dvh grid-cols-1 grid-rows-[auto_1fr] lg:grid-cols-[19rem_minmax(0,1fr)]">
      <a
        href="#content"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById("content")?.focus();
        }}
        className="sr-only z-50 rounded bg-accent px-3 py-2 text-on-accent focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
      >
        Skip to content
      </a>
      <header
        data-print="hide"
        className="sticky top-0 z-30 flex h-14 items-center gap-3 border-b border-line bg-surface px-4 lg:col-span-2 lg:px-5"
      >
        <IconButton
          icon={open ? X : Menu}
          label={open ? "Close menu" : "Open menu"}
          aria-expanded={open}
          aria-controls="navigation"
          className="lg:hidden"
          onClick={() => setOpen(!open)}
        />
        <Mark product={PRODUCT_NAME} />
        <div className="ml-auto flex items-center gap-1">
          <MenuButton
            label="Theme"
            trigger={<SunMoon aria-hidden size={18} />}
            items={THEMES}
            className="inline-flex size-9 items-center justify-center rounded-lg hover:bg-sunken"
          />
        </div>
      </header>
      <nav
        id="navigation"
        aria-label="Operations"
        data-print="hide"
        className={clsx(
          "fixed inset-x-0 top-14 bottom-0 z-20 overflow-y-auto border-r border-line bg-surface p-3 lg:sticky lg:block lg:h-[calc(100dvh-3.5rem)]",
          open ? "block" : "hidden",
        )}
      >
        <OperationList areas={areas} area={area} selected={operation?.id ?? null} />
      </nav>
      <main id="content" tabIndex={-1} className="min-w-0">
        <AreaContent key={area.slug} api={api} area={area} reader={reader} operation={operation} />
      </main>
    </div>
  );
}

function AreaContent({
  api,
  area,
  reader,
  operation,
}: {
  readonly api: PlaneDocument;
  readonly area: ApiArea;
  readonly reader: SchemaReader;
  readonly operation: Operation | undefined;
}): ReactNode {
  const caller = useCaller(area);
  if (operation === undefined) return <AreaOverview api={api} area={area} caller={caller} />;
  return <OperationPage key={operation.id} operation={operation} reader={reader} caller={caller} />;
}
