import type { Refusal } from "../../../kernel/errors.ts";
import type { Outbound } from "../../../runtime/outbound.ts";
import type { ProviderTarget } from "../provider.ts";
import { AccessTokens } from "./access-tokens.ts";
import { readServiceAccount } from "./service-account.ts";

/** Authorization headers for Google: an access token of the service account, or the token in the record. */
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

  /** Drops a token that the vendor rejected; the next call gets a new one. */
  forget({ apiKey }: Pick<ProviderTarget, "apiKey">): void {
    const account = apiKey === null ? null : readServiceAccount(apiKey);
    if (account !== null) this.tokens.forget(account);
  }
}
