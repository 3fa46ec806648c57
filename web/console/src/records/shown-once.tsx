import { CopyButton } from "@gatehouse/web-kit/copy-button.tsx";
import type { ReactNode } from "react";
import { memberLabel } from "./api-schema.ts";
import type { ApiRecord } from "./records-client.ts";

/** Values in an answer that are returned only this once. */
export function ShownOnce({ answer, members }: { readonly answer: ApiRecord; readonly members: readonly string[] }): ReactNode {
  const shown = members.filter((member) => typeof answer[member] === "string");
  if (shown.length === 0) return null;
  return (
    <div role="status" className="grid gap-2 rounded-xl border border-line bg-warn-soft p-4">
      <p className="font-semibold text-warn">Copy this now. It will not be shown again.</p>
      {shown.map((member) => (
        <p key={member} className="flex flex-wrap items-center gap-2">
          <span className="text-sm">{memberLabel(member)}</span>
          <code className="min-w-0 rounded bg-surface px-2 py-1 text-sm break-all">{String(answer[member])}</code>
          <CopyButton text={String(answer[member])} label={`Copy ${memberLabel(member)}`} doneLabel="Copied" />
        </p>
      ))}
    </div>
  );
}
