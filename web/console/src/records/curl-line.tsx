import { CopyButton } from "@gatehouse/web-kit/copy-button.tsx";
import type { ReactNode } from "react";

/** The same from a shell, for whoever is going to automate it. */
export function CurlLine({ method = "GET", path }: { readonly method?: string; readonly path: string }): ReactNode {
  const line = `curl ${method === "GET" ? "" : `-X ${method} `}${location.origin}${path} -H "Authorization: Bearer $TOKEN"`;
  return (
    <details className="text-sm">
      <summary className="min-h-6 cursor-pointer text-muted">The same with curl</summary>
      <p className="mt-2 flex items-start gap-2">
        <code className="min-w-0 rounded bg-sunken px-3 py-2 text-xs break-all">{line}</code>
        <CopyButton text={line} label="Copy the line" doneLabel="Copied" />
      </p>
    </details>
  );
}
