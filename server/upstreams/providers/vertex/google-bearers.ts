import type { Refusal } from "../../../kernel/errors.ts";
import type { Outbound } from "../../../runtime/outbound.ts";
import type { ProviderTarget } from "../provider.ts";
import { AccessTokens } from "./access-tokens.ts";
import { readServiceAccount } from "./service-account.ts";

/** The headers that say who asks Google: a token of the service account, or the one that the record has. */
export class GoogleBearers {
  private readonly tokens: AccessTokens;

  constructor(outbound: Outbound, clock: { now(): number }) {
    this.tokens = new AccessTokens(outbound, clock);
  }

  async of({ apiKey }: Pick<ProviderTarget, "apiKey">): Promise<Readonly<Record<string, string>> | Refusal> {
    if (apiKey === null) return {};
    const account = readServiceAccount(apiKey);
    const token = account === null ? apiKey : await this.tokens.of(account);
    return typeof token === "string" ? { authorization: `Bearer ${token}` } : token;
  }

  /** The vendor did not take it: the next call asks for another. */
  forget({ apiKey }: Pick<ProviderTarget, "apiKey">): void {
    const account = apiKey === null ? null : readServiceAccount(apiKey);
    if (account !== null) this.tokens.forget(account);
  }
}
