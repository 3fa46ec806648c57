import { codeSamples } from "@gatehouse/web-kit/code-samples.ts";
import { CodeSamplesView } from "@gatehouse/web-kit/code-samples-view.tsx";
import type { ReactNode } from "react";
import { adminSession } from "../admin-client.ts";

/** The same request as shell and program code, for automation. */
export function RequestSamples({ method = "GET", path }: { readonly method?: string; readonly path: string }): ReactNode {
  const samples = codeSamples({
    method,
    url: `${location.origin}${path}`,
    credential: "TOKEN",
    headers: Object.entries(adminSession.headers()),
    body: null,
  });
  return (
    <details data-print="hide" className="text-sm">
      <summary className="min-h-6 cursor-pointer text-muted">Use from code</summary>
      <div className="mt-2 grid grid-cols-1 gap-2">
        <CodeSamplesView samples={samples} label="Languages" />
        <p className="text-muted">
          What else it takes, and a form that sends it:{" "}
          <a href="/docs/" className="text-accent underline">
            the reference of the admin API
          </a>
          .
        </p>
      </div>
    </details>
  );
}
