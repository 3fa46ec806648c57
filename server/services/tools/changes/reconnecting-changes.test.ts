import { expect, test } from "bun:test";
import { refuse } from "../../../kernel/errors.ts";
import type { Changes } from "./no-changes.ts";
import { reconnectingChanges } from "./reconnecting-changes.ts";

const TOOLS = { tools: true, prompts: false, resources: false, uris: [], logs: false };
const CHANGED = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };

test("a server's notifications are reopened after failed attempts, and closed with the rest", async () => {
  let closed = 0;
  const open: Changes = {
    honoured: TOOLS,
    async *notifications() {
      yield { ...CHANGED, params: { told: "again" } };
    },
    close: () => void closed++,
  } as unknown as Changes;
  const attempts = [
    () => Promise.reject(new Error("the database is away")),
    () => Promise.resolve(refuse("upstream_unreachable")),
    () => Promise.resolve({ ...open, notifications: (open.notifications as unknown as () => Changes["notifications"])() }),
  ];
  const ended = new AbortController();
  const kept = reconnectingChanges(
    null,
    TOOLS,
    () => (attempts.shift() ?? (() => Promise.resolve(refuse("upstream_unreachable"))))(),
    ended.signal,
    1,
  );
  expect((await kept.notifications.next()).value).toEqual(CHANGED);
  expect((await kept.notifications.next()).value).toEqual({ ...CHANGED, params: { told: "again" } });
  const over = kept.notifications.next();
  ended.abort();
  expect(await over).toEqual({ done: true, value: undefined });
  expect(closed).toBe(1);
});
