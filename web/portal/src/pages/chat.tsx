import { IconButton } from "@gatehouse/web-kit/button.tsx";
import { ConfirmDialog } from "@gatehouse/web-kit/dialog.tsx";
import { useSession } from "@gatehouse/web-kit/session.ts";
import { EmptyState, ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { saveFile } from "@gatehouse/web-kit/save-file.ts";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { Bot, FileDown, FileJson, Trash2 } from "lucide-react";
import { type ReactNode, useCallback, useEffect, useRef, useState } from "react";
import { Composer } from "../chat/composer.tsx";
import type { ChatTurn } from "../chat/conversation.ts";
import { ConversationList, ConversationsButton, listAnew } from "../chat/conversation-list.tsx";
import { forgetConversation } from "../chat/conversation-store.ts";
import { conversationAsJson, conversationAsMarkdown } from "../chat/export.ts";
import { useFollowedEnd } from "../chat/followed-end.ts";
import { KnowledgeChooser } from "../chat/knowledge-chooser.tsx";
import { lastModel, rememberModel } from "../chat/last-model.ts";
import { ModelPicker } from "../chat/model-picker.tsx";
import { NoticeText } from "../chat/notice-text.tsx";
import { RenameConversation } from "../chat/rename-conversation.tsx";
import { ToolChooser } from "../chat/tool-chooser.tsx";
import { TurnView } from "../chat/turn-view.tsx";
import { useAgain } from "../chat/use-again.ts";
import { newUlid } from "../chat/ulid.ts";
import { type Talk, type Talked, useConversation } from "../chat/use-conversation.ts";
import { useToolServers } from "../chat/use-tool-servers.ts";
import { portalApi, ownSession } from "../portal-client.ts";
import { usePortalTexts } from "../translations.ts";

function ConversationTools({ talk }: { readonly talk: Talk }): ReactNode {
  const t = usePortalTexts();
  const go = useNavigate();
  const cache = useQueryClient();
  const [isRequested, setRequested] = useState(false);
  const { conversation } = talk;
  if (conversation === null || conversation.turns.length === 0) return null;
  const texts = { preamble: t("exportPreamble"), you: t("you"), aiGenerated: t("aiGenerated") };
  const forget = async () => {
    talk.forget();
    await forgetConversation(conversation.handle);
    listAnew(cache, conversation.owner, conversation.handle, null);
    showToast(t("deleted"));
    await go({ to: "/chat" });
  };
  return (
    <>
      <RenameConversation conversation={conversation} onRename={(title) => talk.change((now) => ({ ...now, title, isNamed: true }))} />
      <IconButton
        icon={FileDown}
        label={t("exportMarkdown")}
        onClick={() =>
          saveFile(new Blob([conversationAsMarkdown(conversation, texts)], { type: "text/markdown" }), `${conversation.handle}.md`)
        }
      />
      <IconButton
        icon={FileJson}
        label={t("exportJson")}
        onClick={() =>
          saveFile(new Blob([conversationAsJson(conversation, texts)], { type: "application/json" }), `${conversation.handle}.json`)
        }
      />
      <IconButton icon={Trash2} label={t("deleteChat")} onClick={() => setRequested(true)} />
      <ConfirmDialog
        open={isRequested}
        onClose={() => setRequested(false)}
        title={t("deleteChat")}
        description={t("deleteChatLead")}
        closeLabel={t("cancel")}
        confirmLabel={t("delete")}
        onConfirm={() => void forget()}
      />
    </>
  );
}

function useRating(talk: Talk): (turn: ChatTurn, score: 1 | -1) => void {
  const rate = useMutation({
    mutationFn: ({ runId, score }: { runId: string; score: 1 | -1 | 0; turnId: string }) =>
      portalApi.call("POST /v1/portal/runs/{run_id}/feedback", { path: { run_id: runId }, body: { score } }),
    onSuccess: ({ score }, { turnId }) =>
      talk.change((now) => ({
        ...now,
        turns: now.turns.map((turn) => (turn.id === turnId ? { ...turn, score: score === 1 || score === -1 ? score : null } : turn)),
      })),
    onError: (error) => showToast(error.message),
  });
  const { mutate } = rate;
  return useCallback(
    (turn, score) => {
      if (turn.runId != null) mutate({ runId: turn.runId, turnId: turn.id, score: turn.score === score ? 0 : score });
    },
    [mutate],
  );
}

/** The conversation; updates the list when it changes, and leaves it if another tab deletes it. */
function useTalk(talked: Omit<Talked, "onListed" | "onGone">): Talk {
  const t = usePortalTexts();
  const go = useNavigate();
  const cache = useQueryClient();
  const { owner } = talked;
  const onListed = useCallback<Talked["onListed"]>((handle, now) => listAnew(cache, owner, handle, now), [cache, owner]);
  const onGone = useCallback(() => {
    showToast(t("deleted"));
    void go({ to: "/chat" });
  }, [go, t]);
  return useConversation({ ...talked, onListed, onGone });
}

function Conversation({
  owner,
  handle,
  systemId,
}: {
  readonly owner: string;
  readonly handle: string;
  readonly systemId: string | null;
}): ReactNode {
  const t = usePortalTexts();
  const { servers, toolsOf } = useToolServers();
  const talk = useTalk({ owner, handle, systemId, toolsOf });
  const models = useQuery({
    queryKey: ["models"],
    queryFn: () => portalApi.call("GET /v1/portal/models", { query: { enabled_only: "true", modes: "chat" } }),
  });
  const [chosen, setChosen] = useState<string | null>(null);
  const choose = (id: string) => {
    setChosen(id);
    rememberModel(owner, id);
  };
  const [announcement, setAnnouncement] = useState("");
  const heading = useRef<HTMLHeadingElement>(null);
  const rate = useRating(talk);
  const { conversation, notice, gate, streaming, elsewhere } = talk;
  const available = models.data?.models ?? [];
  const open = (wanted: string | null) => available.find(({ id }) => id === wanted);
  const model = open(chosen ?? conversation?.modelId ?? null) ?? open(lastModel(owner)) ?? available[0] ?? null;
  const turns = conversation?.turns ?? [];
  const { region, content, follow } = useFollowedEnd(turns.length > 0);

  useEffect(() => {
    heading.current?.focus({ preventScroll: true });
  }, [handle]);
  const title = conversation?.title || t("untitled");
  useEffect(() => {
    document.title = `${title} · ${t("product")}`;
  }, [title, t]);
  useEffect(() => {
    if (!streaming) return undefined;
    setAnnouncement("");
    follow();
    return () => setAnnouncement(t("responseComplete"));
  }, [streaming, follow, t]);

  const onAgain = useAgain(talk, model, region);
  const resume = talk.resume;
  const onResume = useCallback(() => model !== null && resume(model), [resume, model]);
  const noModel = models.isSuccess && model === null;
  return (
    <div className="flex min-w-0 grow flex-col">
      {notice?.methods.includes("banner") === true && gate !== null && <NoticeText plan={notice} method="banner" gate={gate} />}
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1 border-b border-line px-4 py-2">
        <h1 ref={heading} tabIndex={-1} className="sr-only">
          {title}
        </h1>
        {available.length > 0 && <ModelPicker models={available} value={model} onChange={choose} />}
        {conversation !== null && model?.supports_tools !== false && (
          <ToolChooser
            servers={servers}
            chosen={conversation.toolServerIds ?? []}
            onChange={(toolServerIds) => talk.change((now) => ({ ...now, toolServerIds }))}
          />
        )}
        <KnowledgeChooser talk={talk} />
        <span className="ml-auto flex">
          <ConversationsButton owner={owner} current={handle} />
          <ConversationTools talk={talk} />
        </span>
      </div>
      <div ref={region} tabIndex={0} role="region" aria-label={t("navChat")} className="min-h-0 grow overflow-y-auto">
        <div ref={content} className="mx-auto grid max-w-3xl gap-6 px-4 py-6">
          {notice?.methods.includes("inline") === true && gate !== null && <NoticeText plan={notice} method="inline" gate={gate} />}
          {models.isError && (
            <ErrorState
              error={models.error}
              title={t("unreadable")}
              requestLabel={t("request")}
              retry={{ label: t("tryAgain"), run: () => void models.refetch() }}
            />
          )}
          {(models.isPending || conversation === null) && <Skeleton label={t("loading")} lines={3} />}
          {conversation !== null && turns.length === 0 && models.isSuccess && (
            <EmptyState icon={Bot} title={noModel ? t("noModelsTitle") : t("chatEmptyTitle")}>
              {noModel ? t("noModels") : t("chatEmpty")}
            </EmptyState>
          )}
          {turns.map((turn, at) => (
            <TurnView
              key={turn.id}
              turn={turn}
              streaming={(streaming || elsewhere) && at === turns.length - 1 && turn.role === "assistant"}
              isLast={at === turns.length - 1}
              onResume={onResume}
              busy={streaming || elsewhere || model === null}
              onAgain={onAgain}
              onRate={rate}
            />
          ))}
        </div>
      </div>
      <p role="status" className="sr-only">
        {announcement}
      </p>
      <div className="mx-auto w-full max-w-3xl px-4 pb-4">
        <p role="status" className="mb-2 text-sm text-warn empty:mb-0">
          {talk.unkept ? t("notKept") : elsewhere && t("answersElsewhere")}
        </p>
        <Composer
          draft={`${owner}/${handle}`}
          streaming={streaming}
          ready={model !== null && gate !== null && !elsewhere}
          takesImages={model?.supports_vision === true}
          onSend={(text, attachments) => model !== null && talk.send(text, attachments, model)}
          onStop={talk.stop}
        />
      </div>
    </div>
  );
}

/** The URL holds the conversation's handle, so that a reload continues it; without one, a new handle is created. */
export function ChatPage(): ReactNode {
  const t = usePortalTexts();
  const go = useNavigate();
  const { handle } = useParams({ strict: false });
  const session = useSession(ownSession);
  const groups = useQuery({ queryKey: ["groups"], queryFn: () => portalApi.call("GET /v1/portal/auth/groups") });
  const isHandle = handle !== undefined && /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(handle);
  useEffect(() => {
    if (!isHandle) void go({ to: "/chat/$handle", params: { handle: newUlid() }, replace: true });
  }, [go, isHandle]);
  // Without the group, another group's notice would be shown and recorded.
  if (groups.data === undefined && groups.isError)
    return (
      <div className="mx-auto max-w-3xl px-4 py-8">
        <h1 className="sr-only">{t("navChat")}</h1>
        <ErrorState
          error={groups.error}
          title={t("unreadable")}
          requestLabel={t("request")}
          retry={{ label: t("tryAgain"), run: () => void groups.refetch() }}
        />
      </div>
    );
  if (!isHandle || session.state !== "in" || groups.isPending)
    return (
      <div className="mx-auto max-w-3xl px-4 py-8">
        <h1 className="sr-only">{t("navChat")}</h1>
        <Skeleton label={t("loading")} />
      </div>
    );
  // Without a primary group, the first one is used.
  const systemId = groups.data.primary_group_id ?? groups.data.groups[0]?.id ?? null;
  return (
    <div className="flex h-[calc(100dvh-3.5rem)]">
      <ConversationList owner={session.user.id} current={handle} />
      <Conversation key={handle} owner={session.user.id} handle={handle} systemId={systemId} />
    </div>
  );
}
