import { Button, buttonClass, IconButton } from "@gatehouse/web-kit/button.tsx";
import { Dialog } from "@gatehouse/web-kit/dialog.tsx";
import { inputClass } from "@gatehouse/web-kit/field.tsx";
import { ErrorState } from "@gatehouse/web-kit/states.tsx";
import { type QueryClient, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { History, MessageSquarePlus } from "lucide-react";
import { type ReactNode, useDeferredValue, useMemo, useState } from "react";
import { usePortalTexts } from "../translations.ts";
import type { StoredConversation } from "./conversation.ts";
import { newestFirst, readConversations } from "./conversation-store.ts";

/** Most conversations listed at once, because links are costly to render; older ones appear on request or through search. */
const SHOWN_AT_ONCE = 100;

const keyOf = (owner: string) => ["conversations", owner];

/** Updates the cached list with one changed or deleted (null) conversation: reading all of them again can take seconds. */
export function listAnew(cache: QueryClient, owner: string, handle: string, conversation: StoredConversation | null): void {
  const queryKey = keyOf(owner);
  // A read in progress may predate the change.
  if (cache.isFetching({ queryKey }) > 0) void cache.invalidateQueries({ queryKey });
  else
    cache.setQueryData(queryKey, (listed: readonly StoredConversation[] | undefined) => {
      if (listed === undefined) return undefined;
      const others = listed.filter((one) => one.handle !== handle);
      return conversation === null ? others : newestFirst([...others, conversation]);
    });
}

interface ConversationListProps {
  readonly owner: string;
  readonly current: string;
}

/** Whether the title or a message contains the words, ignoring case. */
function tellsOf({ title, turns }: StoredConversation, words: string): boolean {
  const wanted = words.toLocaleLowerCase();
  return [title, ...turns.map(({ text }) => text)].some((text) => text.toLocaleLowerCase().includes(wanted));
}

function ConversationLinks({ owner, current, onChoose }: ConversationListProps & { readonly onChoose?: () => void }): ReactNode {
  const t = usePortalTexts();
  const list = useQuery({
    queryKey: keyOf(owner),
    queryFn: () => readConversations(owner),
    structuralSharing: false,
    // Other tabs report their changes while this list is mounted.
    refetchOnWindowFocus: false,
  });
  const [words, setWords] = useState("");
  const [most, setMost] = useState(SHOWN_AT_ONCE);
  const wanted = useDeferredValue(words.trim());
  const kept = useMemo(() => (list.data ?? []).filter(({ turns }) => turns.length > 0), [list.data]);
  const found = useMemo(() => (wanted === "" ? kept : kept.filter((one) => tellsOf(one, wanted))), [kept, wanted]);
  return (
    <>
      <Link to="/chat" onClick={onChoose} className={buttonClass("secondary", "justify-start")}>
        <MessageSquarePlus aria-hidden size={16} />
        {t("newChat")}
      </Link>
      {kept.length > 1 && (
        <input
          type="search"
          aria-label={t("searchChats")}
          placeholder={t("searchChats")}
          value={words}
          onChange={({ target }) => {
            setWords(target.value);
            setMost(SHOWN_AT_ONCE);
          }}
          className={clsx(inputClass, "text-sm")}
        />
      )}
      <ul className="grid grid-cols-1 gap-0.5">
        {found.slice(0, most).map(({ handle, title }) => (
          <li key={handle}>
            <Link
              to="/chat/$handle"
              params={{ handle }}
              onClick={onChoose}
              aria-current={handle === current ? "page" : undefined}
              className={clsx("block truncate rounded-lg px-3 py-2 text-sm hover:bg-sunken", handle === current && "bg-sunken font-medium")}
            >
              {title === "" ? t("untitled") : title}
            </Link>
          </li>
        ))}
      </ul>
      {found.length > most && (
        <Button look="quiet" onClick={() => setMost(most + SHOWN_AT_ONCE)}>
          {t("more")}
        </Button>
      )}
      <p role="status" className={clsx("px-3 text-sm text-muted", (kept.length === 0 || found.length > 0) && "sr-only")}>
        {kept.length > 0 && found.length === 0 && t("noChatFound")}
      </p>
      {list.isSuccess && kept.length === 0 && <p className="px-3 text-sm text-muted">{t("noConversations")}</p>}
      {list.isError && (
        <ErrorState
          error={list.error}
          title={t("unreadable")}
          requestLabel={t("request")}
          retry={{ label: t("tryAgain"), run: () => void list.refetch() }}
        />
      )}
      <p className="mt-auto px-3 pt-4 text-xs text-muted">{t("keptHere")}</p>
    </>
  );
}

/** Next to the conversation if there is room, otherwise behind a button. */
export function ConversationList({ owner, current }: ConversationListProps): ReactNode {
  const t = usePortalTexts();
  return (
    <aside aria-label={t("conversations")} className="hidden w-64 shrink-0 flex-col gap-2 overflow-y-auto border-r border-line p-3 xl:flex">
      <ConversationLinks owner={owner} current={current} />
    </aside>
  );
}

export function ConversationsButton({ owner, current }: ConversationListProps): ReactNode {
  const t = usePortalTexts();
  const [open, setOpen] = useState(false);
  return (
    <>
      <IconButton icon={History} label={t("conversations")} className="xl:hidden" onClick={() => setOpen(true)} />
      <Dialog open={open} onClose={() => setOpen(false)} title={t("conversations")} closeLabel={t("close")}>
        <div className="grid grid-cols-1 gap-3">
          <ConversationLinks owner={owner} current={current} onChoose={() => setOpen(false)} />
        </div>
      </Dialog>
    </>
  );
}
