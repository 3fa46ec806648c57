import { expect, test } from "bun:test";
import type { Directory } from "../../directory/writes/write.ts";
import type { Action } from "../../road/action.ts";
import type { Call } from "../../road/call.ts";
import { Approvals } from "./approvals.ts";

test.each(["repeats the request", "sends its token", "was held for it"])(
  "an approval is not consumed by a caller that %s and disconnects meanwhile",
  async (how) => {
    let asked = 0;
    const db = new Proxy(
      {},
      {
        get() {
          asked++;
          throw new Error("the database was asked");
        },
      },
    );
    const abort = new AbortController();
    const headers = new Headers(how === "sends its token" ? { "x-approval-token": "token" } : {});
    const identity = { tenantId: "t", userId: "u", credentialId: "c" };
    const call = { id: "call", row: {}, identity, scope: { groupId: "g" }, headers, abort } as unknown as Call;
    const proof =
      how === "repeats the request"
        ? { session: null, asked: async () => ({ id: "a", status: "approved" }) }
        : { session: how === "was held for it" ? "digest" : null };
    // The definition's digest is requested from the tool server, which may take a while.
    const definitionDigest = async () => {
      abort.abort("client_disconnected");
      return "digest";
    };
    const approval = { required: true, serverId: "s", serverName: "s", approverGroupIds: [], timeoutSeconds: 60, definitionDigest, proof };
    const action = { name: "open", alias: "open", arguments: "{}", definition: null, approval } as unknown as Action;
    const approvals = new Approvals({ db, clock: { now: () => 0 } } as unknown as Directory);
    const decision = await approvals.before(call, action);
    const refusal = decision.kind === "refuse" ? decision.refusal : null;
    expect([refusal, asked]).toEqual([expect.objectContaining({ code: "upstream_interrupted", reason: "client_disconnected" }), 0]);
  },
);

test("arguments too large to review are refused before an approval request is stored", async () => {
  let asked = 0;
  const get = () => {
    asked++;
    throw new Error("the database was asked");
  };
  const db = new Proxy({}, { get });
  const identity = { tenantId: "t", userId: "u", credentialId: "c" };
  const call = { row: {}, identity, scope: { groupId: "g" }, headers: new Headers(), abort: new AbortController() } as unknown as Call;
  const definitionDigest = async () => "digest";
  const approval = { required: true, serverId: "s", serverName: "s", approverGroupIds: [], definitionDigest, proof: { session: null } };
  const approvals = new Approvals({ db, clock: { now: () => 0 } } as unknown as Directory);
  const decide = (length: number) =>
    approvals.before(call, { name: "open", arguments: JSON.stringify({ text: "x ".repeat(length / 2) }), approval } as unknown as Action);
  expect(await decide(300_000)).toMatchObject({ kind: "refuse", refusal: { code: "tool_payload_too_large" } });
  expect(asked).toBe(0);
  await decide(200_000);
  expect(asked).toBeGreaterThan(0);
});
