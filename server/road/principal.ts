import type { Call } from "./call.ts";

/** The owner of sessions: the user behind the key, else the key. */
export function principalOf(call: Call): string {
  const { identity } = call;
  if (identity === null) throw new Error("a call to a tool server was not admitted");
  return `${identity.tenantId}\n${identity.userId ?? identity.credentialId}`;
}
