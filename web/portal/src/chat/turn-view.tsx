import { Button, IconButton } from "@gatehouse/web-kit/button.tsx";
import { CopyButton } from "@gatehouse/web-kit/copy-button.tsx";
import { inputClass } from "@gatehouse/web-kit/field.tsx";
import { Pencil, RotateCcw, Sparkles, ThumbsDown, ThumbsUp } from "lucide-react";
import { memo, type ReactNode, useState } from "react";
import { usePortalTexts } from "../translations.ts";
import type { ChatTurn } from "./conversation.ts";
import { CitedAnswer } from "./cited-sources.tsx";
import { Markdown } from "./markdown.tsx";
import { RefusalCard } from "./refusal-card.tsx";
import { ToolRounds } from "./tool-calls.tsx";

interface TurnViewProps {
  readonly turn: ChatTurn;
  readonly streaming: boolean;
  readonly busy: boolean;
  /** Whether it is the last turn. */
  readonly isLast: boolean;
  readonly onResume: () => void;
  readonly onAgain: (turnId: string, text?: string) => void;
  readonly onRate: (turn: ChatTurn, score: 1 | -1) => void;
}

function Question({ turn, busy, onAgain }: Pick<TurnViewProps, "turn" | "busy" | "onAgain">): ReactNode {
  const t = usePortalTexts();
  const [edited, setEdited] = useState<string | null>(null);
  return (
    <article aria-label={t("you")} className="group grid justify-items-end gap-1">
      {edited === null ? (
        <>
          <div dir="auto" className="max-w-[85%] rounded-2xl rounded-br-md bg-accent-soft px-4 py-2.5 whitespace-pre-wrap">
            {turn.text}
            {turn.attachments?.map(({ name, url }) => (
              <img key={name} src={url} alt={t("image", { name })} className="mt-2 max-h-48 rounded-lg" />
            ))}
          </div>
          <IconButton icon={Pencil} label={t("edit")} disabled={busy} onClick={() => setEdited(turn.text)} className="text-muted" />
        </>
      ) : (
        <form
          className="grid w-full gap-2"
          onSubmit={(event) => {
            event.preventDefault();
            if (busy || edited.trim() === "") return;
            onAgain(turn.id, edited.trim());
            setEdited(null);
          }}
        >
          <textarea
            aria-label={t("message")}
            value={edited}
            rows={3}
            autoFocus
            onChange={(event) => setEdited(event.target.value)}
            className={inputClass}
          />
          <div className="flex justify-end gap-2">
            <Button onClick={() => setEdited(null)}>{t("cancel")}</Button>
            <Button type="submit" look="primary" disabled={busy}>
              {t("send")}
            </Button>
          </div>
        </form>
      )}
    </article>
  );
}

function Answer({ turn, streaming, busy, isLast, onResume, onAgain, onRate }: TurnViewProps): ReactNode {
  const t = usePortalTexts();
  const isLeft =
    isLast && !streaming && turn.rounds !== undefined && turn.text === "" && turn.refusal === undefined && turn.stopped !== true;
  const done = !streaming && turn.refusal === undefined;
  return (
    <article aria-label={t("aiGenerated")} aria-busy={streaming} className="grid gap-1">
      <p className="flex items-center gap-2 text-xs text-muted">
        <span className="inline-flex items-center gap-1 rounded-full bg-sunken px-2 py-0.5 font-medium text-ink">
          <Sparkles aria-hidden size={12} />
          {t("aiGenerated")}
        </span>
        {turn.model}
      </p>
      {turn.rounds !== undefined && <ToolRounds rounds={turn.rounds} isLast={isLast} />}
      {turn.passages === undefined ? (
        turn.text !== "" && <Markdown text={turn.text} streaming={streaming} />
      ) : (
        <CitedAnswer text={turn.text} streaming={streaming} passages={turn.passages} />
      )}
      {streaming && turn.text === "" && (
        <span className="my-2 inline-flex gap-1" aria-hidden>
          {[0, 1, 2].map((dot) => (
            <span key={dot} className="size-2 animate-pulse rounded-full bg-edge" />
          ))}
        </span>
      )}
      {isLeft && (
        <div>
          <Button look="primary" disabled={busy} onClick={onResume}>
            {t("goOn")}
          </Button>
        </div>
      )}
      {turn.cut !== undefined && <p className="text-sm text-warn">{t(turn.cut === "length" ? "cutLength" : "cutFilter")}</p>}
      {turn.stopped === true && !streaming && <p className="text-sm text-muted">{t("stopped")}</p>}
      {turn.refusal !== undefined && <RefusalCard refusal={turn.refusal} isPart={turn.text !== ""} />}
      {!streaming && (
        <div className="flex items-center gap-0.5 text-muted">
          {turn.text !== "" && <CopyButton text={`${turn.text}\n\n[${t("aiGenerated")}]`} label={t("copy")} doneLabel={t("copied")} />}
          <IconButton
            icon={RotateCcw}
            label={turn.refusal === undefined ? t("regenerate") : t("retry")}
            disabled={busy}
            onClick={() => onAgain(turn.id)}
          />
          {done && turn.runId != null && (
            <>
              <IconButton
                icon={ThumbsUp}
                label={t("helpful")}
                aria-pressed={turn.score === 1}
                className={turn.score === 1 ? "!bg-accent-soft !text-accent" : ""}
                onClick={() => onRate(turn, 1)}
              />
              <IconButton
                icon={ThumbsDown}
                label={t("notHelpful")}
                aria-pressed={turn.score === -1}
                className={turn.score === -1 ? "!bg-accent-soft !text-accent" : ""}
                onClick={() => onRate(turn, -1)}
              />
            </>
          )}
        </div>
      )}
    </article>
  );
}

export const TurnView = memo(function TurnView(props: TurnViewProps): ReactNode {
  return props.turn.role === "user" ? <Question {...props} /> : <Answer {...props} />;
});
