import { expect, test } from "bun:test";
import { jsonLog } from "../../kernel/log.ts";
import { BackgroundCalls, type BackgroundRequest, type SuspendedLine } from "./background-calls.ts";
import type { Call } from "../call.ts";

type Parts = ConstructorParameters<typeof BackgroundCalls>[0];

test("an answer that arrives while its credential cannot be looked up is delivered later", async () => {
  const open = new Set<Call>();
  const calls = {
    accepting: true,
    start() {
      const call = { row: {}, headers: new Headers() } as unknown as Call;
      open.add(call);
      return call;
    },
    forget: (call: Call) => open.delete(call),
  };
  const credentials = { find: () => Promise.reject(new Error("the connection was lost")) };
  const background = new BackgroundCalls({
    calls,
    credentials,
    snapshots: { scope: () => null },
    log: jsonLog("error"),
  } as unknown as Parts);
  const request = { path: "/", headers: new Headers(), holder: { kind: "key", hash: "h" }, groupId: "g" } as unknown as BackgroundRequest;
  const left = { row: { tenant_id: "t" } } as unknown as SuspendedLine;
  for (const recorded of [false, true]) {
    expect(await background.finish(request, left, { status: 200, body: "{}" }, recorded)).toBeNull();
    expect(open.size).toBe(0);
  }
});

test("an event that the journal cannot begin leaves no open call behind", async () => {
  const open = new Set<Call>();
  const calls = {
    start() {
      const call = { row: {}, headers: new Headers() } as unknown as Call;
      open.add(call);
      return call;
    },
    begin() {
      throw new Error("the journal failed");
    },
    forget: (call: Call) => open.delete(call),
  };
  const background = new BackgroundCalls({ calls, snapshots: { scope: () => null }, log: jsonLog("error") } as unknown as Parts);
  const event = {
    audit: { proxyType: "llm", proxySubtype: "video_end" },
    ...{ path: "/", headers: new Headers(), ip: "", parentId: "p" },
    ...{ rootTaskId: null, noted: {}, claim: async () => true },
  } as const;
  const who = { tenantId: "t", groupId: "g", keyId: null, userId: null };
  const recorded = background.recordEvent(event, who, { status: 200, errorType: null, errorMessage: null });
  expect(await recorded.catch((error: Error) => error.message)).toBe("the journal failed");
  expect(open.size).toBe(0);
});
