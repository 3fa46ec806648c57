import { CircleAlert, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import { ApiError, refusalWords } from "./api-error.ts";

/** Reserves the space of content that is loading, to avoid layout shifts. */
export function Skeleton({ lines = 4, label }: { readonly lines?: number; readonly label: string }): ReactNode {
  return (
    <div role="status" aria-label={label} className="grid animate-pulse gap-3">
      {Array.from({ length: lines }, (_, at) => (
        <div key={at} className="h-12 rounded-lg bg-sunken" />
      ))}
    </div>
  );
}

interface EmptyStateProps {
  readonly icon: LucideIcon;
  readonly title: string;
  /** What would be shown here, and how to create it. */
  readonly children: ReactNode;
  readonly action?: ReactNode;
}

export function EmptyState({ icon: Icon, title, children, action }: EmptyStateProps): ReactNode {
  return (
    <div className="grid justify-items-center gap-3 rounded-xl border border-dashed border-line px-6 py-12 text-center">
      <span className="inline-flex size-12 items-center justify-center rounded-full bg-accent-soft text-accent">
        <Icon aria-hidden size={24} />
      </span>
      <h2 className="text-base font-semibold">{title}</h2>
      <div className="max-w-prose text-muted">{children}</div>
      {action}
    </div>
  );
}

interface ErrorStateProps {
  readonly error: unknown;
  readonly title: string;
  readonly retry?: { readonly label: string; readonly run: () => void };
  readonly requestLabel: string;
}

/** An error: what went wrong, what to do, and the request ID. */
export function ErrorState({ error, title, retry, requestLabel }: ErrorStateProps): ReactNode {
  const requestId = error instanceof ApiError ? error.requestId : null;
  return (
    <div role="alert" className="grid gap-2 rounded-xl border border-bad/40 bg-bad-soft p-4">
      <p className="flex items-center gap-2 font-semibold text-bad">
        <CircleAlert aria-hidden size={18} />
        {title}
      </p>
      <p>{refusalWords(error)}</p>
      {requestId !== null && (
        <p className="font-mono text-xs">
          {requestLabel} {requestId}
        </p>
      )}
      {retry !== undefined && (
        <div>
          <Button onClick={retry.run}>{retry.label}</Button>
        </div>
      )}
    </div>
  );
}
