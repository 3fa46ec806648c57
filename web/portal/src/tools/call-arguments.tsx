import { VisibleText } from "@gatehouse/web-kit/visible-text.tsx";
import type { ReactNode } from "react";
import { usePortalTexts } from "../translations.ts";
import { writtenMembers } from "./written-json.ts";

/** Names and values, stacked: phones have no room for a table, and nothing may be cut off. `text`: the arguments as they will be sent. */
export function CallArguments({ text }: { readonly text: string }): ReactNode {
  const t = usePortalTexts();
  const members = text === "" ? [] : (writtenMembers(text) ?? [{ name: "", value: text }]);
  if (members.length === 0) return <p className="text-muted">{t("noArguments")}</p>;
  return (
    <dl className="grid gap-2">
      {members.map(({ name, value }, at) => (
        <div key={at}>
          <dt className="font-mono text-sm font-semibold">
            <VisibleText text={name} />
          </dt>
          <dd>
            <pre dir="auto" tabIndex={0} className="max-h-60 overflow-auto rounded-lg bg-sunken p-2 font-mono text-sm whitespace-pre-wrap">
              <VisibleText text={value} />
            </pre>
          </dd>
        </div>
      ))}
    </dl>
  );
}
