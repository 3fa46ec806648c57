import { buttonClass } from "@gatehouse/web-kit/button.tsx";
import { PageFrame, Panel } from "@gatehouse/web-kit/page.tsx";
import { Download } from "lucide-react";
import { type ReactNode, useDeferredValue } from "react";
import { CredentialField } from "./credential-field.tsx";
import { type ApiArea, groupedOperations, type Operation, type PlaneDocument } from "./document/api-document.ts";
import { PRODUCT_NAME } from "./product-name.ts";
import type { PageCaller } from "./use-caller.ts";

/** Description text with its `code` spans rendered as code. */
function Described({ text }: { readonly text: string }): ReactNode {
  return text.split("`").map((part, at) =>
    at % 2 === 1 ? (
      <code key={at} className="rounded bg-sunken px-1 font-mono text-[0.9em]">
        {part}
      </code>
    ) : (
      part
    ),
  );
}

const NONE: readonly Operation[] = [];

/** An API's purpose and all its operations on one page. */
export function AreaOverview({
  api,
  area,
  caller,
}: {
  readonly api: PlaneDocument;
  readonly area: ApiArea;
  readonly caller: PageCaller;
}): ReactNode {
  // Deferred, so that the introduction renders first.
  const listed = useDeferredValue(area.operations, NONE);
  return (
    <PageFrame
      product={PRODUCT_NAME}
      title={area.title}
      actions={
        <a href="/openapi.json" download className={buttonClass("secondary")}>
          <Download aria-hidden size={16} />
          OpenAPI document
        </a>
      }
    >
      <div className="grid grid-cols-1 gap-6">
        <p className="max-w-prose">
          <Described text={api.info.description} />
        </p>
        <Panel title="Who calls">
          <CredentialField caller={caller} />
        </Panel>
        {groupedOperations(listed).map(([group, operations]) => (
          <section key={group} className="grid grid-cols-1 gap-2">
            <h2 className="text-lg font-semibold">{group}</h2>
            <ul className="grid grid-cols-1 gap-1">
              {operations.map(({ id, method, path, about }) => (
                <li key={id} className="grid gap-x-3 sm:grid-cols-[minmax(0,1fr)_minmax(0,1fr)]">
                  <a href={`#${id}`} className="min-h-6 text-accent underline">
                    {about.summary}
                  </a>
                  <code className="font-mono text-xs break-all text-muted">
                    {method} {path}
                  </code>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </PageFrame>
  );
}
