import { Button } from "@gatehouse/web-kit/button.tsx";
import { Dialog } from "@gatehouse/web-kit/dialog.tsx";
import { useQuery } from "@tanstack/react-query";
import { BookOpen } from "lucide-react";
import { type ReactNode, useState } from "react";
import { portalApi } from "../portal-client.ts";
import { usePortalTexts } from "../translations.ts";
import type { Talk } from "./use-conversation.ts";

/** Selects the knowledge bases to answer from; renders nothing if the person has access to none. */
export function KnowledgeChooser({ talk }: { readonly talk: Talk }): ReactNode {
  const t = usePortalTexts();
  const [open, setOpen] = useState(false);
  const bases = useQuery({
    queryKey: ["knowledgebases", "enabled"],
    queryFn: () => portalApi.call("GET /v1/portal/knowledgebases", { query: { enabled_only: "true" } }),
  });
  const listed = bases.data?.collections ?? [];
  const chosen = talk.conversation?.knowledgeBaseIds ?? [];
  const known = listed.filter(({ id }) => chosen.includes(id));
  if (listed.length === 0 || talk.conversation === null) return null;
  return (
    <>
      <Button look="quiet" icon={BookOpen} className="whitespace-nowrap" onClick={() => setOpen(true)}>
        {known.length === 0 ? t("knowledgeTitle") : t("knowledgeChosen", { count: known.length })}
      </Button>
      <Dialog
        open={open}
        onClose={() => setOpen(false)}
        title={t("chatKnowledge")}
        description={t("chatKnowledgeLead")}
        closeLabel={t("close")}
      >
        <ul className="grid gap-4">
          {listed.map(({ id, name, description }) => {
            const isChosen = chosen.includes(id);
            return (
              <li key={id}>
                <label className="flex min-h-8 items-center gap-3 font-medium">
                  <input
                    type="checkbox"
                    className="size-5 accent-accent"
                    checked={isChosen}
                    onChange={() => {
                      const next = isChosen ? chosen.filter((other) => other !== id) : [...known.map((one) => one.id), id];
                      // Null means the group's knowledge bases.
                      talk.change((now) => ({ ...now, knowledgeBaseIds: next.length === 0 ? null : next }));
                    }}
                  />
                  <span dir="auto" className="min-w-0 break-words">
                    {name}
                  </span>
                </label>
                {description !== null && (
                  <p dir="auto" className="ps-8 text-sm break-words text-muted">
                    {description}
                  </p>
                )}
              </li>
            );
          })}
        </ul>
      </Dialog>
    </>
  );
}
