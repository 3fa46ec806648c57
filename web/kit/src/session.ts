import { useSyncExternalStore } from "react";
import { ApiError, apiErrorOf } from "./api-error.ts";

export interface SessionUser {
  readonly id: string;
  readonly username: string;
  readonly [more: string]: unknown;
}

/** A token as a login answers it. */
export interface Grant {
  readonly access_token: string;
  readonly expires_in: number;
  readonly user: SessionUser;
}

export type SignedState =
  /** `ended` where somebody was signed in on this page and did not leave by themselves. */
  { readonly state: "unknown" } | { readonly state: "out"; readonly ended: boolean } | { readonly state: "in"; readonly user: SessionUser };

interface SessionSettings {
  /** `POST` begins one from a fresh token, `POST .../renew` yields the next token, `DELETE` ends every one of the person. */
  readonly path: string;
  /** Says where to sign out at the identity provider as well. */
  readonly signOutPath: string;
  /** Names the channel on which tabs tell each other that it ended. */
  readonly name: string;
}

/** A request with it comes from a page of ours: a page of another origin may not send it without being asked for. */
const OWN_PAGE = { "x-gw-session": "page" };
/** A token this close to its end is renewed before it is used. */
const MARGIN_MS = 30_000;
/** Between the tries to reach a gateway that may just be starting anew. */
const PAUSES_MS = [1_000, 2_000, 4_000];

/**
 * Who is signed in. The token lives here, in memory, and nowhere else; a cookie that no script can read yields the next
 * one, so a reload keeps who was signed in and a thief of the page's storage gets nothing.
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
    // Whoever left in another tab left here too.
    this.channel.addEventListener("message", () => this.left());
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly snapshot = (): SignedState => this.current;

  /** Sent with every call, for example the group it is for; null takes one back. */
  setHeader(name: string, value: string | null): void {
    if (value === null) this.extra.delete(name);
    else this.extra.set(name, value);
  }

  headers(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.extra);
  }

  /** Whether somebody was signed in before the page was loaded. Who is signed in is not asked to do so again for a moment's outage. */
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

  /** Somebody may have signed in in another tab, and come back to this one. Answers with what ends the looking. */
  followOtherTabs(): () => void {
    const look = () => {
      if (document.visibilityState === "visible" && this.current.state === "out") void this.renew(null).catch(() => null);
    };
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }

  /** After a login. Without the cookie, where it cannot be set, the session ends with the page. */
  async begin(grant: Grant): Promise<void> {
    this.take(grant);
    const headers = { ...OWN_PAGE, authorization: `Bearer ${grant.access_token}` };
    await fetch(this.settings.path, { method: "POST", headers, credentials: "same-origin" }).catch(() => null);
    this.set({ state: "in", user: grant.user });
  }

  /** Another token for the same session, as a change of the password answers it. */
  async replace(grant: Grant): Promise<void> {
    await this.begin(grant);
  }

  async token(): Promise<string | null> {
    if (this.held === null) return null;
    return this.held.endsAt - MARGIN_MS > Date.now() ? this.held.token : this.renew(this.held.token);
  }

  /** The next token after one that was refused. Many that ask at once get one answer. */
  renew(refused: string | null): Promise<string | null> {
    if (this.held !== null && refused !== null && this.held.token !== refused) return Promise.resolve(this.held.token);
    this.renewing ??= this.ask().finally(() => {
      this.renewing = null;
    });
    return this.renewing;
  }

  /** Ends every session and token of the person, on every device, and goes on to sign out at their identity provider. */
  async end(): Promise<void> {
    const asked = await this.sendSigned("POST", this.settings.signOutPath).catch((error: unknown) => {
      // A renewal that failed holds for what follows too: most of all one that came back as somebody else, who stays signed in.
      if (error instanceof ApiError) throw error;
      return null;
    });
    const goOn = asked?.ok === true ? ((await asked.json()) as { continue_at: string | null }).continue_at : null;
    const response = await this.sendSigned("DELETE", this.settings.path);
    if (response?.ok === false) throw await apiErrorOf(response);
    // A channel is of one origin already.
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

  /** What is known of the person has changed. */
  setUser(user: SessionUser): void {
    if (this.current.state === "in") this.set({ state: "in", user });
  }

  /**
   * Null where there is no session. Only a renewal says so: a token that is refused may just have run out, while the cookie
   * begins the next one.
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
      // Whoever signed in or out on this page meanwhile is not whom the answer is about.
      await response.body?.cancel();
      return this.held?.token ?? null;
    }
    // Without a session it answers with nothing: to be signed out is no error.
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
    // Another tab of this browser shares the cookie. What was asked for here was meant in the name of the one before.
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
