import { useCallback, useEffect, useRef, useState } from "react";
import { streamAnswer, refusalOf } from "./ask.ts";
import { keepConversation, readConversation } from "./conversation-store.ts";
import type { Attachment, KeptConversation, ChatTurn } from "./conversation.ts";
import { NoticeGate, readNoticePlan } from "./notice.ts";
import { markedNotice, markNotice, unmarkNotice } from "./notice-mark.ts";
import type { NoticePlan } from "./notice-plan.ts";
import { newUlid } from "./ulid.ts";

const TITLE_LENGTH = 60;

interface Model {
  readonly id: string;
  readonly name: string;
}

function newConversation(owner: string, handle: string): KeptConversation {
  const now = new Date().toISOString();
  return { handle, owner, title: "", modelId: null, startedAt: now, changedAt: now, notice: null, turns: [] };
}

export interface Talk {
  readonly conversation: KeptConversation | null;
  /** Null while it is not known yet, and where none is shown. */
  readonly notice: NoticePlan | null;
  readonly gate: NoticeGate | null;
  readonly streaming: boolean;
  send(text: string, attachments: readonly Attachment[], model: Model): void;
  /** The turns from this one on give way to another answer, or to another question. */
  again(turnId: string, model: Model, text?: string): void;
  stop(): void;
  change(patch: (conversation: KeptConversation) => KeptConversation): void;
}

/** One conversation: as it is kept, as it grows, and what must be told before it begins. `onKept` hears of each change. */
export function useConversation(owner: string, handle: string, systemId: string | null, onKept: () => void): Talk {
  const [conversation, setConversation] = useState<KeptConversation | null>(null);
  const [notice, setNotice] = useState<NoticePlan | null>(null);
  const [gate, setGate] = useState<NoticeGate | null>(null);
  const [streaming, setStreaming] = useState(false);
  const current = useRef<KeptConversation | null>(null);
  const asking = useRef<AbortController | null>(null);

  const change = useCallback(
    (patch: (conversation: KeptConversation) => KeptConversation, keep = true) => {
      if (current.current === null) return;
      const next = patch(current.current);
      current.current = next;
      setConversation(next);
      if (keep && next.turns.length > 0) void keepConversation(next).then(onKept);
    },
    [onKept],
  );

  useEffect(() => {
    let left = false;
    current.current = null;
    setConversation(null);
    setGate(null);
    setNotice(null);
    const begin = async () => {
      const stored = (await readConversation(owner, handle).catch(() => null)) ?? newConversation(owner, handle);
      const kept = { ...stored, notice: markedNotice(handle) ?? stored.notice };
      const plan = await readNoticePlan(systemId);
      if (left) return;
      // What was shown stays as it was: the record is of that text.
      const shown = kept.notice === null || plan === null ? plan : { ...plan, text: kept.notice.text, locale: kept.notice.locale };
      const posted = kept.notice?.posted ?? [];
      current.current = kept;
      setConversation(kept);
      setNotice(shown);
      setGate(
        new NoticeGate({
          handle,
          systemId,
          owed: shown === null || kept.turns.length > 0 ? [] : shown.methods.filter((method) => !posted.includes(method)),
          onPosted: (method, isPosted) => {
            if (shown === null || current.current === null) return;
            const others = (current.current.notice?.posted ?? []).filter((one) => one !== method);
            const nowPosted = isPosted ? [...others, method] : others;
            const now = { text: shown.text, locale: shown.locale, posted: nowPosted };
            const told = { ...current.current, notice: now };
            current.current = told;
            setConversation(told);
            // Also without a turn: a page that is loaded anew must not post it again.
            markNotice(handle, now);
            void keepConversation(told).then(() => unmarkNotice(handle, now));
          },
        }),
      );
    };
    void begin();
    return () => {
      left = true;
      asking.current?.abort();
    };
  }, [owner, handle, systemId]);

  const answer = useCallback(
    async (turns: readonly ChatTurn[], model: Model, title: string | null) => {
      if (gate === null) return;
      const stop = new AbortController();
      asking.current = stop;
      const id = newUlid();
      const at = new Date().toISOString();
      const empty: ChatTurn = { id, role: "assistant", text: "", at, model: model.name };
      const patchAnswer = (patch: Partial<ChatTurn>, keep: boolean) =>
        change((now) => ({ ...now, turns: now.turns.map((turn) => (turn.id === id ? { ...turn, ...patch } : turn)) }), keep);
      setStreaming(true);
      change((now) => ({ ...now, turns: [...turns, empty], modelId: model.id, changedAt: at, ...(title === null ? {} : { title }) }));
      try {
        await gate.open();
        const onText = (text: string) => patchAnswer({ text }, false);
        const { runId } = await streamAnswer({ handle, modelId: model.id, turns, signal: stop.signal, onText });
        patchAnswer({ runId }, true);
      } catch (error) {
        patchAnswer(stop.signal.aborted ? { stopped: true } : { refusal: refusalOf(error) }, true);
      } finally {
        if (asking.current === stop) {
          asking.current = null;
          setStreaming(false);
        }
      }
    },
    [change, gate, handle],
  );

  return {
    conversation,
    notice,
    gate,
    streaming,
    change,
    send(text, attachments, model) {
      const before = current.current?.turns ?? [];
      const turn: ChatTurn = {
        id: newUlid(),
        role: "user",
        text,
        at: new Date().toISOString(),
        ...(attachments.length > 0 ? { attachments } : {}),
      };
      void answer([...before, turn], model, before.length === 0 ? text.slice(0, TITLE_LENGTH) : null);
    },
    again(turnId, model, text) {
      const all = current.current?.turns ?? [];
      const at = all.findIndex(({ id }) => id === turnId);
      const turn = all[at];
      if (turn === undefined) return;
      const kept = turn.role === "assistant" ? all.slice(0, at) : [...all.slice(0, at), { ...turn, text: text ?? turn.text }];
      void answer(kept, model, at === 0 && text !== undefined ? text.slice(0, TITLE_LENGTH) : null);
    },
    stop: () => asking.current?.abort(),
  };
}
