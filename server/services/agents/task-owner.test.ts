import { expect, test } from "bun:test";
import { ownerHasAccess, type TaskOwner } from "./task-owner.ts";

const OWNER: TaskOwner = { tenant_id: "default", agent_id: "agent", owner_kind: "user", owner_id: "ada", resource_group_id: "team" };

/** Whether Ada would be let in, who is in the group of the task and has a key for it. */
const hasAccessNow = (user: { readonly is_active?: boolean; readonly api_keys_suspended_at?: Date | null }) =>
  ownerHasAccess(OWNER, {
    snapshots: {
      scope: async () => ({
        tenant: {
          enabled: true,
          agents: {
            byId: new Map([["agent", { enabled: true }]]),
            grants: new Map([["agent", [{ groupIds: new Set(["team"]), decision: "allow" }]]]),
          },
        },
        chain: [{ id: "team" }],
        grantingGroups: new Set(["team"]),
        autonomy: null,
      }),
    } as never,
    users: { find: () => ({ id: "ada", is_active: true, api_keys_suspended_at: null, group_ids: ["team"], ...user }) } as never,
    tasks: { isCredentialGood: async () => true },
  });

test("a disabled owner, or one whose API keys are suspended, gets no task notifications", async () => {
  expect(await hasAccessNow({})).toBe(true);
  expect(await hasAccessNow({ is_active: false })).toBe(false);
  expect(await hasAccessNow({ api_keys_suspended_at: new Date(0) })).toBe(false);
});
