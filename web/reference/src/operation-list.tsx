import { inputClass } from "@gatehouse/web-kit/field.tsx";
import { clsx } from "clsx";
import { type ReactNode, useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { type ApiArea, groupedOperations, type Operation } from "./document/api-document.ts";

const NONE: readonly Operation[] = [];

function matching(operations: readonly Operation[], typed: string): readonly Operation[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return operations.filter(({ method, path, group, about }) => {
    const text = `${method} ${path} ${about.summary} ${group}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** An area's operations by group, filtered by typed text. `/` focuses the filter. */
export function OperationList({
  areas,
  area,
  selected,
}: {
  readonly areas: readonly ApiArea[];
  readonly area: ApiArea;
  readonly selected: string | null;
}): ReactNode {
  const [typed, setTyped] = useState("");
  const search = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const inField = event.target instanceof HTMLElement && event.target.closest("input, textarea, select") !== null;
      if (event.key !== "/" || inField || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      search.current?.focus();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
  useEffect(() => {
    void list.current?.querySelector("[aria-current=page]")?.scrollIntoView({ block: "nearest" });
  }, [selected]);
  // Deferred, so that the page's main content renders first.
  const listed = useDeferredValue(area.operations, NONE);
  const groups = useMemo(() => groupedOperations(matching(listed, typed)), [listed, typed]);
  return (
    <div ref={list} className="grid grid-cols-1 content-start gap-3">
      {areas.length > 1 && (
        <p className="grid grid-cols-2 gap-1 rounded-lg bg-sunken p-1">
          {areas.map(({ slug, title }) => (
            <a
              key={slug}
              href={`#${slug}`}
              aria-current={slug === area.slug ? "true" : undefined}
              className={clsx("rounded-md px-2 py-1.5 text-center text-sm font-medium", slug === area.slug && "bg-surface")}
            >
              {title}
            </a>
          ))}
        </p>
      )}
      <input
        ref={search}
        type="search"
        aria-label="Find an operation"
        placeholder="Find an operation ( / )"
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        className={inputClass}
      />
      {groups.length === 0 && typed !== "" && (
        <p role="status" className="px-2 text-sm text-muted">
          No operation has these words.
        </p>
      )}
      {groups.map(([group, operations]) => (
        <div key={group}>
          <p className="px-2 pb-1 text-xs font-semibold tracking-wide text-muted uppercase">{group}</p>
          <ul>
            {operations.map(({ id, method, about }) => (
              <li key={id}>
                <a
                  href={`#${id}`}
                  aria-current={id === selected ? "page" : undefined}
                  className="flex min-h-8 items-baseline gap-2 rounded-lg px-2 py-1 text-sm hover:bg-sunken aria-[current=page]:bg-accent-soft aria-[current=page]:text-accent-strong"
                >
                  <span className="w-13 shrink-0 font-mono text-[0.6875rem] text-muted">{method}</span>
                  <span className="min-w-0">{about.summary}</span>
                </a>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </div>
  );
}
