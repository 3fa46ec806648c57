import type { StoredTokens } from "../../../directory/tools/oauth-tokens.ts";
import { isRefusal } from "../../../kernel/errors.ts";
import { authorizationCache } from "./authorization-cache.ts";
import type { AuthorizationParts } from "./authorization-parts.ts";
import { authorizationServer } from "./protected-servers.ts";
import { revokeTokens } from "./token-endpoint.ts";
import { clientOfTokens } from "./upstream-clients.ts";

type Parts = Pick<AuthorizationParts, "db" | "secrets" | "clock" | "send" | "memory" | "allowPrivate">;

/** What tokens were issued for. */
interface GivenFor {
  readonly tenantId: string;
  /** ID of the tool server. */
  readonly id: string;
}

/** Revokes tokens at the issuer that issued them, whichever broker handles the request. */
export async function giveUpTokens(parts: Parts, { tenantId, id }: GivenFor, tokens: StoredTokens): Promise<void> {
  const client = await clientOfTokens(parts, tenantId, id, tokens);
  const at = client === null ? null : await authorizationServer(parts, tokens.issuer);
  if (client !== null && at !== null && !isRefusal(at)) await revokeTokens(parts.send, at, client, tokens);
}

export type GiveUpTokens = (given: GivenFor, tokens: StoredTokens) => Promise<void>;

/** `giveUpTokens` for callers outside the broker. */
export function givesUpTokens(parts: Omit<Parts, "memory">): GiveUpTokens {
  const all = { ...parts, memory: authorizationCache() };
  return (given, tokens) => giveUpTokens(all, given, tokens);
}
