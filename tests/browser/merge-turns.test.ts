import { expect, test } from "bun:test";
import type { ChatTurn, StoredConversation } from "../../web/portal/src/chat/conversation.ts";
import { mergeConversations, mergeTurns } from "../../web/portal/src/chat/merge-turns.ts";

const turn = (id: string, more: Partial<ChatTurn> = {}): ChatTurn => ({
  id,
  role: id.startsWith("a") ? "assistant" : "user",
  text: id,
  at: "2026-01-01T00:00:00.000Z",
  ...more,
});
const ids = (turns: readonly ChatTurn[]) => turns.map(({ id }) => id);
const base = [turn("u1"), turn("a1")];

test("two concurrent questions are both kept with their answers, in the order they were stored", () => {
  const merged = mergeTurns(base, [...base, turn("u3"), turn("a3")], [...base, turn("u2"), turn("a2")]);
  expect(ids(merged)).toEqual(["u1", "a1", "u2", "a2", "u3", "a3"]);
  expect(ids(mergeTurns([], [turn("u3"), turn("a3")], [turn("u2"), turn("a2")]))).toEqual(["u2", "a2", "u3", "a3"]);
});

test("a complete answer in one tab is not replaced by a partial one of another", () => {
  const partial = turn("a2", { text: "par", stopped: true });
  const known = [...base, turn("u2"), partial];
  const ended = turn("a2", { text: "partial no more" });
  const merged = mergeTurns(known, [...known, turn("u3"), turn("a3")], [...base, turn("u2"), ended]);
  expect(merged.map(({ id, text }) => [id, text]).slice(3)).toEqual([
    ["a2", "partial no more"],
    ["u3", "u3"],
    ["a3", "a3"],
  ]);
  // What this tab changed keeps this tab's state: a rating, or more of an answer.
  const rated = base.map((one) => (one.id === "a1" ? { ...one, score: 1 as const } : one));
  expect(mergeTurns(base, rated, [...base, turn("u2")])[1]?.score).toBe(1);
});

test("turns deleted in one tab stay deleted, and turns added after them in another are kept", () => {
  const again = [turn("u1"), turn("a9")];
  again[0] = base[0] as ChatTurn;
  expect(ids(mergeTurns(base, again, [...base, turn("u2"), turn("a2")]))).toEqual(["u1", "a9", "u2", "a2"]);
  expect(ids(mergeTurns(base, [...base], again))).toEqual(["u1", "a9"]);
  expect(ids(mergeTurns(again, base, again))).toEqual(["u1", "a1"]);
});

test("without changes elsewhere the tab's own turns are kept", () => {
  const own = [...base, turn("u2"), turn("a2")];
  expect(mergeTurns(base, own, base)).toEqual(own);
  expect(mergeTurns(base, base, base)).toEqual(base);
  expect(mergeTurns([], own, [])).toEqual(own);
});

test("a name set in one tab and tools chosen in another are both kept", () => {
  const known: StoredConversation = {
    ...{ handle: "h", owner: "o", title: "u1", modelId: "m", startedAt: "", changedAt: "", notice: null, turns: base },
    toolServerIds: [],
  };
  const named = { ...known, title: "named", isNamed: true };
  const own = { ...known, toolServerIds: ["tools"], turns: [...base, turn("u2")] };
  expect(mergeConversations(known, own, named)).toEqual({ ...named, toolServerIds: ["tools"], turns: own.turns });
  // If both changed the same field, the last change wins.
  expect(mergeConversations(known, { ...own, title: "here" }, named).title).toBe("here");
});
