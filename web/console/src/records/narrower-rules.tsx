import { Button } from "@gatehouse/web-kit/button.tsx";
import { type ReactNode, useId, useState } from "react";
import type { ApiDocument } from "./api-schema.ts";
import { DocumentPanel } from "./document-panel.tsx";
import type { RecordDocument, RecordKind } from "./record-kind.ts";

/** The group the panels are about, with the API document its forms are built from. */
export interface GroupOfPanels {
  readonly document: ApiDocument;
  readonly kind: RecordKind;
  readonly id: string;
}

export function rulesOfModel({ id, name }: { readonly id: string; readonly name: string }): readonly RecordDocument[] {
  const path = `/llm-models/${encodeURIComponent(id)}`;
  return [
    { label: `Limits of ${name}`, path: `${path}/limits`, operation: "/llm-models/{model_id}/limits", member: "limits" },
    { label: `Parameters of ${name}`, path: `${path}/governance`, operation: "/llm-models/{model_id}/governance", member: "governance" },
  ];
}

export function rulesOfServer({
  mcp_server_id: id,
  name,
}: {
  readonly mcp_server_id: string;
  readonly name: string;
}): readonly RecordDocument[] {
  const path = `/mcp-servers/${encodeURIComponent(id)}/limits`;
  return [{ label: `Limits of ${name}`, path, operation: "/mcp-servers/{server_id}/limits", member: "limits" }];
}

export function rulesOfSkill({ id, name }: { readonly id: string; readonly name: string }): readonly RecordDocument[] {
  const path = `/agent-skills/${encodeURIComponent(id)}/limits`;
  return [{ label: `Limits of ${name}`, path, operation: "/agent-skills/{skill_id}/limits", member: "limits" }];
}

/** Rules of the group for one of its items, in addition to those for all items. Fetched when opened. */
export function NarrowerRules({
  group: { document, kind, id },
  name,
  about,
  mayChange,
}: {
  readonly group: GroupOfPanels;
  readonly name: string;
  readonly mayChange: boolean;
  readonly about: readonly RecordDocument[];
}): ReactNode {
  // Input is kept while the section is collapsed.
  const [isOpen, setOpen] = useState<boolean | null>(null);
  const shown = useId();
  return (
    <>
      <Button
        aria-label={`Overrides: ${name}`}
        aria-expanded={isOpen === true}
        aria-controls={shown}
        onClick={() => setOpen(isOpen !== true)}
      >
        Overrides
      </Button>
      <div id={shown} hidden={isOpen !== true} className={isOpen === true ? "grid w-full gap-4" : ""}>
        {isOpen !== null &&
          about.map((one) => <DocumentPanel key={one.path} document={document} kind={kind} id={id} about={one} mayChange={mayChange} />)}
      </div>
    </>
  );
}
