import { useSyncExternalStore } from "react";
import { ApiError, apiErrorOf } from "./api-error.ts";

export interface SessionUser {
  readonly id: string;
  readonly username: string;
  readonly [more: string]: unknown;
}

/** A token as a login returns it. */
export interface Grant {
  readonly access_token: string;
  readonly expires_in: number;
  readonly user: SessionUser;
}

export type SignedState =
  /** `ended`: someone was signed in on this page and did not sign out themselves. */
  { readonly state: "unknown" } | { readonly state: "out"; readonly ended: boolean } | { readonly state: "in"; readonly user: SessionUser };

interface SessionSettings {
  /** `POST` begins a session from a fresh token, `POST .../renew` returns the next token, `DELETE` ends all of the person's sessions. */
  readonly path: string;
  /** Returns where to sign out at the identity provider as well. */
  readonly signOutPath: string;
  /** Name of the channel on which tabs announce that the session ended. */
  readonly name: string;
}

/** CSRF protection: other origins cannot send this header without a CORS preflight. */
const OWN_PAGE = { "x-gw-session": "page" };
/** A token is renewed when it is this close to its expiry, in milliseconds. */
const MARGIN_MS = 30_000;
/** Delays between attempts to reach a gateway that may be restarting, in milliseconds. */
const PAUSES_MS = [1_000, 2_000, 4_000];

/**
 * The signed-in session. The token is kept only in memory; an HttpOnly cookie yields the next one, so a reload keeps the session, and
 * stealing the page's storage yields nothing.
 */
export class Session {
  private readonly settings: SessionSettings;
  private readonly channel: BroadcastChannel;
  private readonly listeners = new Set<() => void>();
  private readonly extra = new Map<string, string>();
  private current: SignedState = { state: "unknown" };
  private held: { token: string; endsAt: number } | null = null;
  private renewing: Promise<string | null> | null = null;

  constructor(settings: SessionSettings) {
    this.settings = settings;
    this.channel = new BroadcastChannel(`gatehouse.session.${settings.name}`);
    // A sign-out in another tab applies here too.
    this.channel.addEventListener("message", () => this.left());
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly snapshot = (): SignedState => this.current;

  /** Sets a header for every call, such as the group it is for; null removes it. */
  setHeader(name: string, value: string | null): void {
    if (value === null) this.extra.delete(name);
    else this.extra.set(name, value);
  }

  headers(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.extra);
  }

  /** Restores the session after a page load. Retries during a short outage rather than ask the person to sign in again. */
  async resume(): Promise<void> {
    for (let tries = 0; this.current.state === "unknown"; tries++) {
      const pause = await this.renew(null).then(
        () => undefined,
        (error: unknown) => (error instanceof ApiError && error.status < 500 ? undefined : PAUSES_MS[tries]),
      );
      if (pause === undefined) break;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
    if (this.current.state === "unknown") this.set({ state: "out", ended: false });
  }

  /** Renews when the page becomes visible, in case the person signed in in another tab. Returns a function that stops this. */
  followOtherTabs(): () => void {
    const look = () => {
      if (document.visibilityState === "visible" && this.current.state === "out") void this.renew(null).catch(() => null);
    };
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }

  /** Begins a session after a login. If the cookie cannot be set, the session ends with the page. */
  async begin(grant: Grant): Promise<void> {
    this.take(grant);
    const headers = { ...OWN_PAGE, authorization: `Bearer ${grant.access_token}` };
    await fetch(this.settings.path, { method: "POST", headers, credentials: "same-origin" }).catch(() => null);
    this.set({ state: "in", user: grant.user });
  }

  /** Replaces the token, for example after a change of the password. */
  async replace(grant: Grant): Promise<void> {
    await this.begin(grant);
  }

  async token(): Promise<string | null> {
    if (this.held === null) return null;
    return this.held.endsAt - MARGIN_MS > Date.now() ? this.held.token : this.renew(this.held.token);
  }

  /** Returns the next token after `refused` was rejected; null if there is no session. Concurrent calls share one request. */
  renew(refused: string | null): Promise<string | null> {
    if (this.held !== null && refused !== null && this.held.token !== refused) return Promise.resolve(this.held.token);
    this.renewing ??= this.ask().finally(() => {
      this.renewing = null;
    });
    return this.renewing;
  }

  /** Ends all of the person's sessions and tokens on every device, then signs out at their identity provider. */
  async end(): Promise<void> {
    const signOutResponse = await this.sendSigned("POST", this.settings.signOutPath).catch((error: unknown) => {
      // A failed renewal fails this too, above all if the session now belongs to someone else, who stays signed in.
      if (error instanceof ApiError) throw error;
      return null;
    });
    const goOn = signOutResponse?.ok === true ? ((await signOutResponse.json()) as { continue_at: string | null }).continue_at : null;
    const response = await this.sendSigned("DELETE", this.settings.path);
    if (response?.ok === false) throw await apiErrorOf(response);
    // A BroadcastChannel reaches only its own origin.
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    this.channel.postMessage("ended");
    this.left();
    if (goOn !== null && /^https?:/.test(goOn)) location.assign(goOn);
  }

  lost(): void {
    this.held = null;
    if (this.current.state !== "out") this.set({ state: "out", ended: this.current.state === "in" });
  }

  private left(): void {
    this.held = null;
    this.set({ state: "out", ended: false });
  }

  /** Updates the signed-in person's data. */
  setUser(user: SessionUser): void {
    if (this.current.state === "in") this.set({ state: "in", user });
  }

  /**
   * Resolves to null without a session. Only a renewal can tell: a rejected token may just have expired while the cookie still yields the
   * next one.
   */
  private async sendSigned(method: string, path: string): Promise<Response | null> {
    const once = (token: string) =>
      fetch(path, { method, headers: { ...OWN_PAGE, authorization: `Bearer ${token}` }, credentials: "same-origin" });
    const token = await this.token();
    if (token === null) return null;
    const response = await once(token);
    if (response.status !== 401) return response;
    await response.body?.cancel();
    const next = await this.renew(token);
    return next === null ? null : once(next);
  }

  private async ask(): Promise<string | null> {
    const before = this.held;
    const response = await fetch(`${this.settings.path}/renew`, { method: "POST", headers: OWN_PAGE, credentials: "same-origin" });
    if (this.held !== before) {
      // Someone signed in or out on this page meanwhile, so the answer is about another session.
      await response.body?.cancel();
      return this.held?.token ?? null;
    }
    // Without a session the answer has no body; being signed out is not an error.
    if (response.status === 204 || response.status === 401) {
      await response.body?.cancel();
      this.lost();
      return null;
    }
    if (!response.ok) throw await apiErrorOf(response);
    const grant = (await response.json()) as Grant;
    this.take(grant);
    const { current } = this;
    if (current.state === "in" && current.user.id === grant.user.id) return grant.access_token;
    this.set({ state: "in", user: grant.user });
    // Another tab shares the cookie and signed in as someone else; the request was meant for the previous person.
    if (current.state === "in") throw new ApiError(409, response.headers, null, "Somebody else has signed in in this browser.");
    return grant.access_token;
  }

  private take({ access_token, expires_in }: Grant): void {
    this.held = { token: access_token, endsAt: Date.now() + expires_in * 1000 };
  }

  private set(next: SignedState): void {
    this.current = next;
    for (const listener of this.listeners) listener();
  }
}

export function useSession(session: Session): SignedState {
  return useSyncExternalStore(session.subscribe, session.snapshot);
}
