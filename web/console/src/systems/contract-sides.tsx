import { Badge } from "@gatehouse/web-kit/page.tsx";
import type { ReactNode } from "react";

export interface ContractChange {
  readonly clause: string;
  readonly path: string;
  readonly change: "unchanged" | "narrowed" | "widened" | "changed";
  readonly before?: unknown;
  readonly after?: unknown;
}

const TONES = { widened: "bad", changed: "warn", narrowed: "good", unchanged: "neutral" } as const;

/** Two contract versions side by side: the clauses that differ, widening changes first. */
export function ContractSides({
  changes,
  before,
  after,
}: {
  readonly changes: readonly ContractChange[];
  readonly before: string;
  readonly after: string;
}): ReactNode {
  const order = ["widened", "changed", "narrowed", "unchanged"];
  const clauses = [...new Set(changes.map(({ clause }) => clause))].sort((a, b) => weight(changes, a, order) - weight(changes, b, order));
  return (
    <div className="grid gap-4 text-sm">
      <div aria-hidden className="hidden gap-3 font-medium sm:grid sm:grid-cols-2">
        <span>{before}</span>
        <span>{after}</span>
      </div>
      {clauses.map((clause) => (
        <section key={clause} className="grid gap-2" aria-label={clause.replaceAll("_", " ")}>
          <h3 className="font-medium">{clause.replaceAll("_", " ")}</h3>
          {changes
            .filter((one) => one.clause === clause)
            .sort((a, b) => order.indexOf(a.change) - order.indexOf(b.change))
            .map((one) => (
              <div key={one.path} className="grid gap-2 border-t border-line pt-2">
                <div className="flex flex-wrap items-center gap-2">
                  <Badge tone={TONES[one.change]}>{one.change}</Badge>
                  <span className="break-all">{nameIn(one.after) ?? nameIn(one.before) ?? one.path}</span>
                </div>
                <div className="grid gap-3 sm:grid-cols-2">
                  <Side label={before} value={one.before} />
                  <Side label={after} value={one.after} />
                </div>
              </div>
            ))}
        </section>
      ))}
    </div>
  );
}

const weight = (changes: readonly ContractChange[], clause: string, order: readonly string[]): number =>
  Math.min(...changes.filter((one) => one.clause === clause).map(({ change }) => order.indexOf(change)));

function Side({ label, value }: { readonly label: string; readonly value: unknown }): ReactNode {
  return (
    <div className="min-w-0">
      <span className="sr-only">{label}: </span>
      {value == null ? (
        <span className="text-muted">not there</span>
      ) : (
        <pre
          className="max-h-80 overflow-auto rounded bg-surface p-2 text-xs whitespace-pre-wrap break-all"
          tabIndex={0}
          aria-label={label}
        >
          {typeof value === "object" ? JSON.stringify(value, null, 1) : String(value)}
        </pre>
      )}
    </div>
  );
}

function nameIn(value: unknown): string | null {
  const name = typeof value === "object" && value !== null ? (value as { name?: unknown }).name : undefined;
  return typeof name === "string" ? name : null;
}
