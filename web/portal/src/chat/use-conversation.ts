import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { OfferedTool } from "../tools/offered-tools.ts";
import { answerTurn } from "./answer-turn.ts";
import { useAnsweredElsewhere, whileAnswering } from "./answering-tab.ts";
import { refusalOf } from "./ask.ts";
import { forgetConversation, onChangedElsewhere, readConversation } from "./conversation-store.ts";
import type { Attachment, StoredConversation, ChatTurn } from "./conversation.ts";
import { NoticeGate, readNoticePlan } from "./notice.ts";
import { markedNotice, markNotice, unmarkNotice } from "./notice-mark.ts";
import type { NoticePlan } from "./notice-plan.ts";
import { titleOf } from "./title-of.ts";
import { newUlid } from "./ulid.ts";
import { type Asking, type Keeping, useKeeping } from "./use-keeping.ts";

/** Interval at which a streaming answer is saved; at most this much is lost if the page closes. */
const SAVE_INTERVAL_MS = 2_000;

export interface ModelChoice {
  readonly id: string;
  readonly name: string;
}

function newConversation(owner: string, handle: string): StoredConversation {
  const now = new Date().toISOString();
  return { handle, owner, title: "", modelId: null, startedAt: now, changedAt: now, notice: null, turns: [] };
}

export interface Talk {
  readonly conversation: StoredConversation | null;
  /** Null until it is known, and if none is shown. */
  readonly notice: NoticePlan | null;
  readonly gate: NoticeGate | null;
  readonly streaming: boolean;
  /** Whether another tab is answering in it: a question asked here meanwhile would be sent without that answer. */
  readonly elsewhere: boolean;
  /** Whether the browser failed to store the latest turns. */
  readonly unkept: boolean;
  send(text: string, attachments: readonly Attachment[], model: ModelChoice): void;
  /** Resumes the last answer, whose tool calls were interrupted when the page was left. */
  resume(model: ModelChoice): void;
  /** Replaces the turns from this one on by a new answer or question. Returns the previous turns and the number dropped below. */
  again(turnId: string, model: ModelChoice, text?: string): { readonly before: readonly ChatTurn[]; readonly givenUp: number };
  /** Restores these turns. */
  restore(turns: readonly ChatTurn[]): void;
  stop(): void;
  /** The conversation was deleted: parts of an answer that still arrive are not stored. */
  forget(): void;
  change(patch: (conversation: StoredConversation) => StoredConversation): void;
}

/** Resolves to the tools of the given servers. */
export type ToolsOf = (serverIds: readonly string[]) => Promise<readonly OfferedTool[]>;

/** A call in flight when the page was left may have been executed, so it is not made again. */
const leftBehind = (turn: ChatTurn): ChatTurn =>
  turn.rounds?.some((round) => round.calls.some((call) => call.state === "running")) !== true
    ? turn
    : {
        ...turn,
        rounds: turn.rounds.map((round) => ({
          ...round,
          calls: round.calls.map((call) =>
            call.state === "running"
              ? { ...call, state: "failed", told: "The page was left before the answer came; the call may have been made." }
              : call,
          ),
        })),
      };

interface Shown extends Pick<Keeping, "keep"> {
  now(): StoredConversation | null;
  tell(conversation: StoredConversation): void;
}

/** Creates the gate for the notice records that are still due. */
function gateOf(
  handle: string,
  systemId: string | null,
  { notice, turns }: StoredConversation,
  plan: NoticePlan | null,
  conversation: Shown,
): NoticeGate {
  const posted = notice?.posted ?? [];
  return new NoticeGate({
    handle,
    systemId,
    owed: plan === null || turns.length > 0 ? [] : plan.methods.filter((method) => !posted.includes(method)),
    onPosted: (method, isPosted) => {
      const before = conversation.now();
      if (plan === null || before === null) return;
      const others = (before.notice?.posted ?? []).filter((one) => one !== method);
      const shown = { text: plan.text, locale: plan.locale, posted: isPosted ? [...others, method] : others };
      const noticed = { ...before, notice: shown };
      conversation.tell(noticed);
      // Marked even without a turn, so that a reload does not post the record again.
      markNotice(handle, shown);
      void conversation.keep(noticed).then((kept) => kept !== null && unmarkNotice(handle, shown));
    },
  });
}

/** The stored conversation and its notice. `known`: the stored version, without what only this tab knows. */
async function openConversation(owner: string, handle: string, systemId: string | null) {
  const stored = (await readConversation(owner, handle).catch(() => null)) ?? newConversation(owner, handle);
  // If another tab updates a call that looks interrupted, its version is newer.
  const known = { ...stored, turns: stored.turns.map(leftBehind) };
  const kept = { ...known, notice: markedNotice(handle) ?? stored.notice };
  const plan = await readNoticePlan(systemId);
  // A notice already shown keeps its text: the record is about that text.
  const shown = kept.notice === null || plan === null ? plan : { ...plan, text: kept.notice.text, locale: kept.notice.locale };
  return { known, kept, shown };
}

export interface Talked {
  readonly owner: string;
  readonly handle: string;
  readonly systemId: string | null;
  readonly toolsOf: ToolsOf;
  /** Called on each stored change, here or in another tab; null if another tab deleted the conversation. */
  readonly onListed: (handle: string, conversation: StoredConversation | null) => void;
  /** Called when another tab deleted it. */
  readonly onGone: () => void;
}

/** One conversation: its stored and streaming turns, and the notice to show before it begins. */
export function useConversation({ owner, handle, systemId, toolsOf, onListed, onGone }: Talked): Talk {
  const [conversation, setConversation] = useState<StoredConversation | null>(null);
  const [notice, setNotice] = useState<NoticePlan | null>(null);
  const [gate, setGate] = useState<NoticeGate | null>(null);
  const [streaming, setStreaming] = useState(false);
  const current = useRef<StoredConversation | null>(null);
  const asking = useRef<Asking | null>(null);
  const show = useCallback((next: StoredConversation) => {
    current.current = next;
    setConversation(next);
  }, []);
  const { unkept, readAs, keep, join, drop } = useKeeping(current, asking, show);
  const { elsewhere, look } = useAnsweredElsewhere(handle, streaming);

  const change = useCallback(
    (patch: (conversation: StoredConversation) => StoredConversation, isKept = true) => {
      if (current.current === null) return;
      const next = patch(current.current);
      show(next);
      if (!isKept || next.turns.length === 0) return;
      void keep(next).then((kept) => kept !== null && onListed(kept.handle, kept));
    },
    [keep, onListed, show],
  );

  useEffect(() => {
    let left = false;
    current.current = null;
    setConversation(null);
    setGate(null);
    setNotice(null);
    const begin = async () => {
      const { known, kept, shown } = await openConversation(owner, handle, systemId);
      if (left) return;
      readAs(known);
      show(kept);
      // Another tab may have changed it since it was read.
      void join(owner, handle);
      setNotice(shown);
      setGate(gateOf(handle, systemId, kept, shown, { now: () => current.current, tell: show, keep }));
    };
    void begin();
    return () => {
      left = true;
      asking.current?.abort();
    };
  }, [owner, handle, systemId, keep, readAs, join, show]);

  const answer = useCallback(
    async (before: readonly ChatTurn[], model: ModelChoice, title: string | null, begun: ChatTurn | null) => {
      if (gate === null) return;
      const stop = new AbortController();
      const at = new Date().toISOString();
      const turn: ChatTurn = begun ?? { id: newUlid(), role: "assistant", text: "", at, model: model.name };
      const own: Asking = { turnId: turn.id, abort: () => stop.abort() };
      asking.current = own;
      let keptAt = Date.now();
      const patchAnswer = (patch: Partial<ChatTurn>, isKept: boolean) => {
        change((now) => ({ ...now, turns: now.turns.map((one) => (one.id === turn.id ? { ...one, ...patch } : one)) }), isKept);
        if (current.current === null || Date.now() - keptAt < SAVE_INTERVAL_MS) return;
        keptAt = Date.now();
        void keep(current.current);
      };
      setStreaming(true);
      change((now) => ({
        ...now,
        turns: [...before, turn],
        modelId: model.id,
        changedAt: at,
        ...(title === null || now.isNamed === true ? {} : { title }),
      }));
      try {
        await whileAnswering(handle, async () => {
          await gate.open();
          const { signal } = stop;
          const tools = await toolsOf(current.current?.toolServerIds ?? []);
          const knowledgeBaseIds = current.current?.knowledgeBaseIds ?? null;
          await answerTurn({ handle, modelId: model.id, before, begun: turn, tools, knowledgeBaseIds, signal, onChange: patchAnswer });
        });
      } catch (error) {
        patchAnswer(stop.signal.aborted ? { stopped: true } : { refusal: refusalOf(error) }, true);
      } finally {
        if (asking.current === own) {
          asking.current = null;
          setStreaming(false);
          change((now) => now);
        }
      }
    },
    [change, gate, handle, keep, toolsOf],
  );
  const turns = useTurns(current, asking, { change, answer, drop });
  const { forget } = turns;

  useEffect(
    () =>
      onChangedElsewhere(owner, (changed, now) => {
        onListed(changed, now);
        if (changed !== handle) return;
        if (now === null) {
          // Also removes what this tab stored meanwhile.
          if (current.current !== null) void forgetConversation(handle);
          forget();
          onGone();
        } else {
          void join(owner, handle);
          if (asking.current === null) look();
        }
      }),
    [owner, handle, forget, join, look, onListed, onGone],
  );

  return { conversation, notice, gate, streaming, elsewhere, unkept, change, ...turns };
}

type Turns = Pick<Talk, "send" | "again" | "restore" | "resume" | "stop" | "forget">;

interface TurnParts extends Pick<Talk, "change">, Pick<Keeping, "drop"> {
  readonly answer: (before: readonly ChatTurn[], model: ModelChoice, title: string | null, begun: ChatTurn | null) => Promise<void>;
}

/** Operations on the turns. Their identities are stable, so that a turn is rendered again only when it changes. */
function useTurns(
  current: RefObject<StoredConversation | null>,
  asking: RefObject<Asking | null>,
  { change, answer, drop }: TurnParts,
): Turns {
  return useMemo((): Turns => {
    const all = () => current.current?.turns ?? [];
    const stop = () => asking.current?.abort();
    return {
      stop,
      forget() {
        if (current.current !== null) drop(current.current.handle);
        current.current = null;
        stop();
      },
      send(text, attachments, model) {
        const before = all();
        const turn: ChatTurn = {
          id: newUlid(),
          role: "user",
          text,
          at: new Date().toISOString(),
          ...(attachments.length > 0 ? { attachments } : {}),
        };
        void answer([...before, turn], model, before.length === 0 ? titleOf(text) : null, null);
      },
      again(turnId, model, text) {
        const before = all();
        const at = before.findIndex(({ id }) => id === turnId);
        const turn = before[at];
        if (turn === undefined) return { before, givenUp: 0 };
        const kept = turn.role === "assistant" ? before.slice(0, at) : [...before.slice(0, at), { ...turn, text: text ?? turn.text }];
        void answer(kept, model, at === 0 && text !== undefined ? titleOf(text) : null, null);
        return { before, givenUp: before.length - 1 - at };
      },
      restore(turns) {
        stop();
        change((now) => ({ ...now, turns }));
      },
      resume(model) {
        const last = all().at(-1);
        // As another tab stored it, possibly with calls it had begun.
        if (last?.role === "assistant") void answer(all().slice(0, -1), model, null, { ...leftBehind(last), stopped: false });
      },
    };
  }, [current, asking, change, answer, drop]);
}
