import type { ReactNode } from "react";
import { usePortalTexts } from "../translations.ts";

/** Names and values, one under the other: a phone has no room for a table, and nothing may be cut off. */
export function CallArguments({ given }: { readonly given: unknown }): ReactNode {
  const t = usePortalTexts();
  const entries = Object.entries(typeof given === "object" && given !== null ? given : {});
  if (entries.length === 0) return <p className="text-muted">{t("noArguments")}</p>;
  return (
    <dl className="grid gap-2">
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt className="font-mono text-sm font-semibold">{name}</dt>
          <dd>
            <pre dir="auto" tabIndex={0} className="max-h-60 overflow-auto rounded-lg bg-sunken p-2 font-mono text-sm whitespace-pre-wrap">
              {typeof value === "string" ? value : JSON.stringify(value, null, 2)}
            </pre>
          </dd>
        </div>
      ))}
    </dl>
  );
}
