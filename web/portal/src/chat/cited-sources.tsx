import { Button } from "@gatehouse/web-kit/button.tsx";
import { Dialog } from "@gatehouse/web-kit/dialog.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { useQuery } from "@tanstack/react-query";
import { Quote } from "lucide-react";
import { type ReactNode, useCallback, useState } from "react";
import { portalApi } from "../portal-client.ts";
import { usePortalTexts } from "../translations.ts";
import type { GivenPassage } from "./conversation.ts";
import { Markdown } from "./markdown.tsx";

/** The current passages under one number, as far as the person may read them. A document's text is displayed, never interpreted. */
function PassagesOfSource({ passages }: { readonly passages: readonly GivenPassage[] }): ReactNode {
  const t = usePortalTexts();
  const ids = passages.map(({ id }) => id).join(",");
  const found = useQuery({
    queryKey: ["knowledge-passages", ids],
    queryFn: () => portalApi.call("GET /v1/portal/knowledge-passages", { query: { ids } }),
  });
  if (found.isPending) return <Skeleton label={t("loading")} lines={3} />;
  if (found.isError) return <ErrorState error={found.error} title={t("unreadable")} requestLabel={t("request")} />;
  if (found.data.passages.length === 0) return <p className="text-muted">{t("passageGone")}</p>;
  return (
    <ul className="grid gap-4">
      {found.data.passages.map(({ document_id: id, ordinal, document_name: name, heading, text }) => (
        <li key={`${id}:${ordinal}`} className="grid gap-1">
          <p dir="auto" className="font-medium break-words">
            {name}
          </p>
          {heading !== "" && (
            <p dir="auto" className="text-sm break-words text-muted">
              {heading}
            </p>
          )}
          <blockquote dir="auto" className="border-s-4 border-line ps-4 break-words whitespace-pre-wrap">
            {text}
          </blockquote>
        </li>
      ))}
    </ul>
  );
}

interface CitedAnswerProps {
  readonly text: string;
  readonly streaming: boolean;
  readonly passages: readonly GivenPassage[];
}

/** An answer whose citation numbers open their passages; numbers without passages stay plain text. */
export function CitedAnswer({ text, streaming, passages }: CitedAnswerProps): ReactNode {
  const t = usePortalTexts();
  const [shown, setShown] = useState<number | null>(null);
  const open = useCallback((source: number) => setShown(source), []);
  const numbers = [...new Set(passages.map(({ source }) => source))];
  return (
    <>
      {text !== "" && <Markdown text={text} streaming={streaming} sources={Math.max(...numbers, 0)} onSource={open} />}
      {!streaming && numbers.length > 0 && (
        <p className="flex flex-wrap items-center gap-1 text-sm text-muted">
          <span>{t("sources")}</span>
          {numbers.map((source) => (
            <Button key={source} look="quiet" icon={Quote} aria-label={t("openSource", { number: source })} onClick={() => open(source)}>
              {source}
            </Button>
          ))}
        </p>
      )}
      <Dialog
        open={shown !== null}
        onClose={() => setShown(null)}
        title={t("sourceTitle", { number: shown ?? 0 })}
        description={t("sourceLead")}
        closeLabel={t("close")}
      >
        {shown !== null && <PassagesOfSource passages={passages.filter(({ source }) => source === shown)} />}
      </Dialog>
    </>
  );
}
