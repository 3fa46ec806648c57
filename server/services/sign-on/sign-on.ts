import { mapped, type Claims } from "../../directory/identity/claims.ts";
import { refusedSignOn } from "../../directory/identity/vouched.ts";
import { offeredProviders, signOnPlace, type SignOnPlace } from "../../directory/identity/sign-on-place.ts";
import { keepStep, newSecretText, takeStoredStep, usedOnce } from "../../directory/identity/sign-on-steps.ts";
import type { KeySets } from "../../directory/identity/key-sets.ts";
import { readLogoutToken } from "../../directory/identity/logout-token.ts";
import { requestedSignOut, noteSignOnSession, type ProviderSession, signOutByProvider } from "../../directory/identity/sign-on-sessions.ts";
import { type Actor, type Directory, write } from "../../directory/writes/write.ts";
import { reasonOf, refuse, Refused } from "../../kernel/errors.ts";
import { isUuid } from "../../kernel/ids.ts";
import type { Log } from "../../kernel/log.ts";
import type { OidcClient } from "../../upstreams/identity/oidc-client.ts";
import type { SamlAssertion, SamlClient } from "../../upstreams/identity/saml-client.ts";
import type { AddressUse, AddressUses } from "../../directory/people/address-throttle.ts";
import { takesLocalPasswords } from "../../directory/people/local-passwords.ts";
import { localPath } from "./local-path.ts";

/** A sign-in page: its audience, and the base URL of its sign-in endpoints as browsers see it. */
export interface SignOnPage {
  readonly audience: "portal" | "admin";
  readonly base: string;
}

export interface Begun {
  readonly location: string;
  /** A secret that binds the sign-in to the browser that began it. */
  readonly binding: string;
  readonly kind: "oidc" | "saml";
  readonly tenantId: string;
}

/** The outcome of a returning sign-in. `again`: the provider signed with an unknown key, so the sign-in was begun once more. */
export type Arrived =
  | {
      readonly kind: "signed_in";
      readonly place: SignOnPlace;
      readonly claims: Claims;
      readonly returnTo: string;
      readonly until: number | null;
      /** The session at the provider; null if the provider does not support sign-out. */
      readonly session: ProviderSession | null;
    }
  | { readonly kind: "tested"; readonly place: SignOnPlace; readonly claims: Claims }
  | { readonly kind: "again"; readonly begun: Begun };

export type SignedIn = Extract<Arrived, { kind: "signed_in" }>;

interface RedeemedCode {
  readonly accountId: string;
  /** The account's `tokens_valid_from` at sign-in, in milliseconds: if the account was signed out since, the code is no longer valid. */
  readonly generation: number;
  readonly tenantId: string;
  /** Milliseconds since the epoch; null if the provider set no end. */
  readonly sessionEndsAt: number | null;
  /** Whether the provider enforces the second factor itself. */
  readonly factorElsewhere: boolean;
}

export interface SignOnParts {
  readonly directory: Directory;
  /** Providers' signing keys, for tokens that arrive without a browser (back-channel logout). */
  readonly keys: KeySets;
  readonly oidc: OidcClient;
  readonly saml: SamlClient;
  readonly uses: AddressUses;
  readonly log: Log;
}

/** Whether an administrator is testing the provider, and may therefore see error details. */
interface Tried {
  readonly test: boolean;
}

const MAX_REASON = 500;
const STATE_MS = 10 * 60_000;
const CODE_MS = 60_000;
const TEST_MS = 10 * 60_000;
const SKEW_MS = 60_000;
const WRONG = "This sign-in is not one that was begun in this browser, or its time has run out. Begin again.";

/** Sign-in through identity providers (OpenID Connect and SAML): begins a sign-in and processes its result. */
export class SignOn {
  private readonly parts: SignOnParts;

  constructor(parts: SignOnParts) {
    this.parts = parts;
  }

  offers(tenantId: string, audience: SignOnPage["audience"]) {
    return offeredProviders(this.parts.directory, tenantId, audience);
  }

  /** Whether users of the tenant may also sign in with a local password. */
  takesPasswords(tenantId: string): Promise<boolean> {
    return takesLocalPasswords(this.parts.directory.db, tenantId);
  }

  /** Throws `Refused` if this page has no such provider, the provider cannot be reached, or too many sign-ins were begun. */
  async begin(
    page: SignOnPage,
    id: string,
    asked: { returnTo: string | null; test: string | null; address: string; binding: string | null },
  ): Promise<Begun> {
    await this.count("sign_on", asked.address);
    const place = await this.placeAt(page, id);
    if (asked.test !== null && !this.isTicket(place, asked.test)) throw refusedSignOn("The test has run out. Begin it again.");
    return this.beginAt(page, place, { returnTo: localPath(asked.returnTo), test: asked.test !== null, again: false }, asked.binding);
  }

  /** Throws `Refused` (`too_many_logins`, with `retry-after`) at the limit. */
  private async count(use: AddressUse, address: string): Promise<void> {
    const seconds = await this.parts.uses.take(use, address);
    if (seconds !== null) throw new Refused(refuse("too_many_logins", undefined, { headers: { "retry-after": String(seconds) } }));
  }

  /** A signed, short-lived ticket with which an administrator can test the provider without anybody being signed in. */
  testTicket(place: Pick<SignOnPlace, "id">): string {
    const { secrets, clock } = this.parts.directory;
    const until = clock.now() + TEST_MS;
    return `${until}.${secrets.proofs("sign-on-test", `${place.id} ${until}`)[0]}`;
  }

  private isTicket(place: SignOnPlace, ticket: string): boolean {
    const { secrets, clock } = this.parts.directory;
    const [until = "", proof = ""] = ticket.split(".");
    return /^\d{13}$/.test(until) && Number(until) > clock.now() && secrets.proofs("sign-on-test", `${place.id} ${until}`).includes(proof);
  }

  private async placeAt(page: SignOnPage, id: string): Promise<SignOnPlace> {
    const place = isUuid(id) ? await signOnPlace(this.parts.directory, id) : undefined;
    if (place === undefined || place.audience !== page.audience) throw new Refused(refuse("not_found"));
    return place;
  }

  /** `known`: the browser's existing binding. It is reused, so that a sign-in in progress in another tab can still finish. */
  private async beginAt(
    page: SignOnPage,
    place: SignOnPlace,
    more: { returnTo: string; test: boolean; again: boolean },
    known: string | null,
  ): Promise<Begun> {
    const { directory } = this.parts;
    const state = newSecretText();
    const binding = known ?? newSecretText();
    const begun =
      place.kind === "oidc"
        ? await this.reached(place, more, () => this.parts.oidc.begin(clientOf(place), `${page.base}/${place.id}/callback`, state))
        : await this.reached(place, more, () => this.parts.saml.begin(samlOf(page, place), state));
    const { address, ...checks } = begun;
    await keepStep(directory, { kind: "state", secret: state, binding, place, content: { ...checks, ...more }, forMs: STATE_MS });
    return { location: address, binding, kind: place.kind, tenantId: place.tenantId };
  }

  private async reached<T>(place: SignOnPlace, tried: Tried, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const reason = reasonOf(error).slice(0, MAX_REASON);
      this.parts.log.warn("identity_provider_failed", { provider_id: place.id, reason });
      throw new Refused(
        refuse("identity_provider_unavailable", tried.test ? `The identity provider cannot be used: ${reason}.` : undefined),
      );
    }
  }

  /** Handles the OpenID Connect callback. */
  async arriveByOidc(page: SignOnPage, id: string, search: string, binding: string | null): Promise<Arrived> {
    const place = await this.placeAt(page, id);
    const state = new URLSearchParams(search).get("state");
    const step =
      place.kind === "oidc" && state !== null && binding !== null
        ? await takeStoredStep(this.parts.directory, { kind: "state", secret: state, binding })
        : null;
    if (step === null || step.providerId !== place.id || state === null) throw refusedSignOn(WRONG);
    const { verifier, nonce, returnTo, test, again } = step.content as {
      verifier: string;
      nonce: string;
      returnTo: string;
      test: boolean;
      again: boolean;
    };
    const declined = new URLSearchParams(search).get("error");
    if (declined !== null) throw this.declined(place, declined);
    const callback = new URL(`${page.base}/${place.id}/callback${search}`);
    const signedIn = await this.vouched(place, { test }, () =>
      this.parts.oidc.finish(clientOf(place), callback, { verifier, nonce, state }),
    );
    if (signedIn !== "again") {
      const { claims, idToken } = signedIn;
      if (test) return { kind: "tested", place, claims };
      const session = { subject: String(claims.sub), sessionId: typeof claims.sid === "string" ? claims.sid : null, idToken };
      return { kind: "signed_in", place, claims, returnTo, until: null, session };
    }
    if (again) throw refusedSignOn("The provider signs with a key that it does not publish.");
    return { kind: "again", begun: await this.beginAt(page, place, { returnTo, test, again: true }, binding) };
  }

  /** The provider reported that nobody was signed in, e.g. because the user cancelled: that is not a failed verification. */
  private declined(place: SignOnPlace, code: string): Refused {
    const named = /^[a-z_]{1,60}$/.test(code) ? code : "for a reason it does not name";
    this.parts.log.warn("sign_on_refused", { provider_id: place.id, tenant_id: place.tenantId, reason: `the provider answered ${named}` });
    return refusedSignOn(`The identity provider signed nobody in (${named}).`);
  }

  /** Handles a response posted to the SAML assertion consumer service. */
  async arriveBySaml(
    page: SignOnPage,
    id: string,
    form: URLSearchParams,
    { binding, address }: { binding: string | null; address: string },
  ): Promise<Arrived> {
    const { directory, saml } = this.parts;
    const place = await this.placeAt(page, id);
    const answer = form.get("SAMLResponse");
    if (place.kind !== "saml" || answer === null) throw refusedSignOn(WRONG);
    const relayState = form.get("RelayState") ?? "";
    const step =
      binding === null || relayState === "" ? null : await takeStoredStep(directory, { kind: "state", secret: relayState, binding });
    const unsolicited = step === null && place.settings.saml?.allow_unsolicited === true;
    if (!unsolicited && (step === null || step.providerId !== place.id)) throw refusedSignOn(WRONG);
    const requestId = step === null ? null : String(step.content.requestId);
    await this.count("saml_response", address);
    const test = step?.content.test === true;
    const assertion: SamlAssertion = await this.vouched(place, { test }, () =>
      saml.finish(samlOf(page, place), answer, requestId, directory.clock.now()),
    );
    if (!(await usedOnce(directory, place, assertion.id, assertion.notOnOrAfter + SKEW_MS)))
      throw refusedSignOn("This sign-in was used before.");
    await this.parts.uses.giveBack("saml_response", address);
    if (test) return { kind: "tested", place, claims: assertion.claims };
    const returnTo = step === null ? "/" : String(step.content.returnTo);
    return { kind: "signed_in", place, claims: assertion.claims, returnTo, until: assertion.sessionNotOnOrAfter, session: null };
  }

  /** Logs why verification failed. The caller learns only that it did, unless an administrator is testing the provider. */
  private async vouched<T>(place: SignOnPlace, tried: Tried, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const reason = reasonOf(error).slice(0, MAX_REASON);
      this.parts.log.warn("sign_on_refused", { provider_id: place.id, tenant_id: place.tenantId, reason });
      throw refusedSignOn(`What the identity provider sent does not prove who you are${tried.test ? `: ${reason}` : ""}.`);
    }
  }

  mapping(place: SignOnPlace, claims: Claims) {
    return mapped(place.settings, claims);
  }

  /** Issues a one-time code that the same browser exchanges for a token. */
  async codeFor(
    { place, until, session }: SignedIn,
    account: { readonly id: string; readonly tokens_valid_from: Date },
    binding: string,
  ): Promise<string> {
    const secret = newSecretText();
    const { id: accountId } = account;
    if (session !== null) await noteSignOnSession(this.parts.directory, place, accountId, session);
    const generation = account.tokens_valid_from.getTime();
    const factorElsewhere = place.settings.two_factor_at_provider;
    const content = { accountId, generation, audience: place.audience, tenantId: place.tenantId, until, factorElsewhere };
    await keepStep(this.parts.directory, { kind: "code", secret, binding, place, content, forMs: CODE_MS });
    return secret;
  }

  async redeem(audience: SignOnPage["audience"], code: string, binding: string | null): Promise<RedeemedCode> {
    const step = binding === null ? null : await takeStoredStep(this.parts.directory, { kind: "code", secret: code, binding });
    if (step === null || step.content.audience !== audience) throw refusedSignOn(WRONG);
    const { accountId, generation, tenantId, until, factorElsewhere } = step.content;
    return {
      accountId: String(accountId),
      generation: Number(generation),
      tenantId: String(tenantId),
      sessionEndsAt: typeof until === "number" ? until : null,
      factorElsewhere: factorElsewhere === true,
    };
  }

  /**
   * OIDC back-channel logout: the provider reports that a user signed out. Returns the affected end users; throws `Refused` if the token is
   * invalid or was used before.
   */
  async signedOutByProvider(
    page: SignOnPage,
    id: string,
    token: string | null,
    actor: Actor,
  ): Promise<{ place: SignOnPlace; endUserIds: string[] }> {
    const { directory, keys } = this.parts;
    const place = await this.placeAt(page, id);
    const { issuer, clientId } = oidcOf(place);
    if (place.kind !== "oidc" || token === null) throw refusedSignOn("There is no logout token.");
    const read = await this.vouched(place, { test: false }, () =>
      readLogoutToken(token, { issuer, clientId }, { keys, clock: directory.clock }),
    );
    if (!(await usedOnce(directory, place, `logout ${read.id}`, read.expiresAt + SKEW_MS)))
      throw refusedSignOn("This token was used before.");
    return { place, ...(await write(directory, actor, (change) => signOutByProvider(change, place, read))) };
  }

  /** The provider's sign-out URL to which the browser is redirected; null when the provider need not be visited. */
  async signOutAddress(page: SignOnPage, accountId: string, returnTo: string): Promise<string | null> {
    const signOut = await requestedSignOut(this.parts.directory, page.audience, accountId);
    const place = signOut === null ? undefined : await signOnPlace(this.parts.directory, signOut.providerId);
    if (signOut === null || place === undefined || place.kind !== "oidc") return null;
    try {
      return await this.parts.oidc.signOutAddress(oidcOf(place), signOut.idToken, returnTo);
    } catch (error) {
      // Local sign-out must succeed even if the provider is unreachable.
      this.parts.log.warn("identity_provider_failed", { provider_id: place.id, reason: reasonOf(error) });
      return null;
    }
  }

  /** The SAML service provider metadata for the provider. */
  async metadata(page: SignOnPage, id: string, address: string): Promise<string> {
    // Metadata is generated on the worker thread that also begins SAML sign-ins, so frequent requests would hold these up.
    await this.count("sign_on", address);
    const place = await this.placeAt(page, id);
    if (place.kind !== "saml") throw new Refused(refuse("not_found"));
    return this.reached(place, { test: false }, () => this.parts.saml.metadata(samlOf(page, place)));
  }
}

/** Without its secret the provider would take this for another client. */
function clientOf(place: SignOnPlace) {
  if (place.isSecretUnreadable) throw new Error("its client secret was stored under another GW_SECRET_KEY: store it again");
  return oidcOf(place);
}

function oidcOf({ version, settings, clientSecret }: SignOnPlace) {
  const { issuer = "", client_id: clientId = null, scopes = [] } = settings.oidc ?? {};
  return { version, issuer, clientId: clientId ?? "", clientSecret, scopes };
}

function samlOf(page: SignOnPage, place: SignOnPlace) {
  const { saml } = place.settings;
  return {
    entityId: `${page.base}/${place.id}/metadata`,
    acs: `${page.base}/${place.id}/acs`,
    providerEntityId: saml?.entity_id ?? "",
    ssoUrl: saml?.sso_url ?? "",
    certificates: saml?.certificates ?? [],
    responseSigned: saml?.response_signed ?? false,
    subjectIsNameId: saml?.subject_attribute == null,
  };
}
