import type { IdentityProviderSettings } from "@gatehouse/contracts/identity-providers";
import { errors, type JWTPayload } from "jose";
import type { Clock } from "../../kernel/clock.ts";
import { sha256Hex } from "../../kernel/secrets.ts";
import type { Database } from "../../store/database.ts";
import { enabledProviders } from "../../store/sign-on/identity-providers.ts";
import { BoundedMap } from "../bounded-map.ts";
import { formerSubjectOf, mapped } from "./claims.ts";
import { settingsOf } from "./identity-providers.ts";
import { type FetchIssuerDocument, KeySets } from "./key-sets.ts";
import { issuerNamed } from "./token-issuer.ts";
import { SIGNATURE_ALGORITHMS, verifyToken } from "../../kernel/verify-token.ts";

/** A workload that presented a token of an issuer its tenant trusts. */
export interface WorkloadToken {
  readonly tenantId: string;
  readonly providerId: string;
  readonly providerName: string;
  readonly subject: string;
  /** From the claims; null if they hold none. */
  readonly username: string | null;
  readonly email: string | null;
  /** The resource groups it may use, in the order of the mappings. */
  readonly resourceGroupIds: readonly string[];
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

/** Why a token was rejected, for the audit row. */
export type TokenFault =
  | "credential_unknown"
  | "credential_expired"
  | "credential_without_group"
  | "issuer_unavailable"
  | "issuer_not_trusted";

interface TrustedIssuer {
  readonly id: string;
  readonly name: string;
  readonly settings: IdentityProviderSettings;
}

const CLOCK_TOLERANCE_SECONDS = 30;
const MAX_TENANTS = 5_000;
const MAX_TOKENS = 20_000;
const MAX_TOKEN_LENGTH = 16_384;

/**
 * Verifies tokens of the issuers that tenants trust for calls, separately from the gateway's own tokens. Trusted issuers
 * and verified tokens are cached, so that a call in steady state needs neither database nor issuer.
 */
export class WorkloadTokens {
  private readonly issuers = new BoundedMap<string, Promise<readonly TrustedIssuer[]>>(MAX_TENANTS);
  private readonly verified = new BoundedMap<string, WorkloadToken>(MAX_TOKENS);
  private readonly keys: KeySets;
  private readonly db: Database;
  private readonly clock: Clock;

  constructor(db: Database, fetchDocument: FetchIssuerDocument, clock: Clock) {
    this.db = db;
    this.clock = clock;
    this.keys = new KeySets(fetchDocument, clock);
  }

  /** Must be called when the tenant's trusted issuers change. */
  drop(tenantId: string): void {
    this.issuers.delete(tenantId);
    for (const token of [...this.verified.keys()]) if (this.verified.get(token)?.tenantId === tenantId) this.verified.delete(token);
  }

  dropAll(): void {
    this.issuers.clear();
    this.verified.clear();
  }

  /** Whether the provider's tokens are still accepted. Rejects if the database is needed and unreachable. */
  async trusts(tenantId: string, providerId: string): Promise<boolean> {
    return (await this.trustedBy(tenantId)).some(({ id }) => id === providerId);
  }

  /** `at`: the time for which to verify the token, epoch milliseconds. Rejects if the database is needed and unreachable. */
  async verify(tenantId: string, token: string, at = this.clock.now()): Promise<WorkloadToken | TokenFault> {
    if (token.length > MAX_TOKEN_LENGTH) return "credential_unknown";
    const name = sha256Hex(`${tenantId} ${token}`);
    const known = this.verified.get(name);
    if (known !== undefined) return known.expiresAt <= at ? "credential_expired" : known;
    const issuer = issuerNamed(token);
    const trusted = issuer === null ? [] : (await this.trustedBy(tenantId)).filter(({ settings }) => settings.oidc?.issuer === issuer);
    if (issuer === null || trusted.length === 0) return "issuer_not_trusted";
    let fault: TokenFault = "credential_unknown";
    for (const one of trusted) {
      const read = await this.verifyAs(tenantId, one, issuer, token, at);
      if (typeof read !== "string") {
        // The issuer may have been dropped during the verification.
        if ((await this.trustedBy(tenantId)).includes(one)) this.verified.set(name, read);
        return read;
      }
      if (read !== "credential_unknown") fault = read;
    }
    return fault;
  }

  private trustedBy(tenantId: string): Promise<readonly TrustedIssuer[]> {
    const known = this.issuers.get(tenantId);
    if (known !== undefined) return known;
    const load = enabledProviders(this.db, tenantId, "api").then((rows) =>
      rows.map((row): TrustedIssuer => ({ id: row.id, name: row.name, settings: settingsOf(row) })),
    );
    this.issuers.set(tenantId, load);
    load.catch(() => {
      if (this.issuers.get(tenantId) === load) this.issuers.delete(tenantId);
    });
    return load;
  }

  private async verifyAs(
    tenantId: string,
    one: TrustedIssuer,
    issuer: string,
    token: string,
    at: number,
  ): Promise<WorkloadToken | TokenFault> {
    const { api } = one.settings;
    if (api === null) return "credential_unknown";
    const payload = await this.payloadOf(token, issuer, [...api.audiences], api.max_age_seconds, at);
    if (typeof payload === "string") return payload;
    const { subject, username, email, allowed, resource_group_ids: mappedGroups } = mapped(one.settings, payload);
    if (!allowed || subject === null) return "credential_unknown";
    // The list may hold subjects in the former format.
    const named = [subject, formerSubjectOf(payload, one.settings.oidc?.subject_claims ?? [])];
    if (api.subjects !== null && !named.some((name) => name !== null && api.subjects?.includes(name))) return "credential_unknown";
    const groups = mappedGroups.length > 0 ? mappedGroups : api.resource_group_id === null ? [] : [api.resource_group_id];
    if (groups.length === 0) return "credential_without_group";
    // Includes the clock tolerance, so that a cached token is valid exactly as long as a newly verified one.
    const expiresAt = (Math.min(payload.exp ?? 0, (payload.iat ?? 0) + api.max_age_seconds) + CLOCK_TOLERANCE_SECONDS) * 1000;
    return { tenantId, providerId: one.id, providerName: one.name, subject, username, email, resourceGroupIds: groups, expiresAt };
  }

  private async payloadOf(token: string, issuer: string, audience: string[], maxAge: number, at: number): Promise<JWTPayload | TokenFault> {
    for (const renewed of [false, true]) {
      const keys = await this.keys.of(issuer, renewed);
      if (keys === null) return "issuer_unavailable";
      try {
        const { payload, protectedHeader } = await verifyToken(token, keys, {
          issuer,
          audience,
          algorithms: SIGNATURE_ALGORITHMS,
          requiredClaims: ["exp", "iat"],
          maxTokenAge: maxAge,
          clockTolerance: CLOCK_TOLERANCE_SECONDS,
          currentDate: new Date(at),
        });
        // Logout tokens are signed by the same keys.
        return protectedHeader.typ?.toLowerCase() === "logout+jwt" || "events" in payload ? "credential_unknown" : payload;
      } catch (error) {
        if (error instanceof errors.JWTExpired) return "credential_expired";
        if (!(error instanceof errors.JWKSNoMatchingKey)) return "credential_unknown";
      }
    }
    return "credential_unknown";
  }
}
