import { useSyncExternalStore } from "react";
import { apiErrorOf } from "./api-error.ts";

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

  /** Whether somebody was signed in before the page was loaded. */
  async resume(): Promise<void> {
    await this.renew(null).catch(() => null);
    if (this.current.state === "unknown") this.set({ state: "out", ended: false });
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
    const token = this.held?.token;
    const headers = { ...OWN_PAGE, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
    const asked = await fetch(this.settings.signOutPath, { method: "POST", headers, credentials: "same-origin" }).catch(() => null);
    const goOn = asked?.ok === true ? ((await asked.json()) as { continue_at: string | null }).continue_at : null;
    const response = await fetch(this.settings.path, { method: "DELETE", headers, credentials: "same-origin" });
    if (!response.ok && response.status !== 401) throw await apiErrorOf(response);
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

  private async ask(): Promise<string | null> {
    const response = await fetch(`${this.settings.path}/renew`, { method: "POST", headers: OWN_PAGE, credentials: "same-origin" });
    // Without a session it answers with nothing: to be signed out is no error.
    if (response.status === 204 || response.status === 401) {
      await response.body?.cancel();
      this.lost();
      return null;
    }
    if (!response.ok) throw await apiErrorOf(response);
    const grant = (await response.json()) as Grant;
    this.take(grant);
    if (this.current.state !== "in") this.set({ state: "in", user: grant.user });
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
