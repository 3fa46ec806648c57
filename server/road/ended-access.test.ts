import { expect, test } from "bun:test";
import { abortReason, type Call, type Identity } from "./call.ts";
import { EndedAccess } from "./ended-access.ts";

const SIGNED_OUT_AT = 2_000;
const USER = { id: "ada", tenant_id: "default", is_active: true, group_ids: [], tokens_valid_from: new Date(SIGNED_OUT_AT) };

/** Whether a call with this identity continues after Ada was signed out or her keys were suspended. */
async function continues(identity: Partial<Identity>, suspended: Date | null = null): Promise<boolean> {
  const call = {
    id: "call",
    user: USER,
    token: null,
    scope: null,
    target: { kind: "none" },
    abort: new AbortController(),
    identity: { tenantId: "default", userId: "ada", username: "ada", credentialName: "", ...identity },
  } as unknown as Call;
  const unused = {} as never;
  const ended = new EndedAccess({
    ...{ snapshots: unused, credentials: unused, workloads: unused, log: unused },
    users: { find: () => ({ ...USER, api_keys_suspended_at: suspended }) } as never,
    calls: { openOf: () => [call] } as never,
  });
  await ended.review("default", "ada");
  return abortReason(call) !== "access_ended";
}

test("a call with a token issued before its user signed out is ended, also with a client's token from the broker", async () => {
  expect(await continues({ credentialId: "ada", since: SIGNED_OUT_AT - 1 })).toBe(false);
  expect(await continues({ credentialId: "ada", since: SIGNED_OUT_AT - 1, grantId: "g" })).toBe(false);
  expect(await continues({ credentialId: "ada", since: SIGNED_OUT_AT, grantId: "g" })).toBe(true);
  expect(await continues({ credentialId: "a key of hers" })).toBe(true);
});

test("a call with an API key of a user whose keys are suspended is ended, but not one with a newer sign-in token", async () => {
  const suspended = new Date(SIGNED_OUT_AT);
  expect(await continues({ credentialId: "a key of hers" }, suspended)).toBe(false);
  expect(await continues({ credentialId: "ada", since: SIGNED_OUT_AT }, suspended)).toBe(true);
});
