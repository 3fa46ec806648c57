import { Session, useSession } from "@gatehouse/web-kit/session.ts";
import { useEffect, useState } from "react";
import type { ApiArea } from "./document/api-document.ts";

/** The credential that requests are sent with. */
export interface PageCaller {
  readonly typed: string;
  readonly type: (credential: string) => void;
  /** The user signed in to this plane's pages; null if nobody is. */
  readonly signedInAs: string | null;
  /** The environment variable that code samples read it from. */
  readonly variable: string;
  /** The app to sign in to, and its URL. */
  readonly app: "console" | "portal";
  readonly home: string;
  token(): Promise<string | null>;
}

const PLANES = {
  console: {
    session: { name: "console", path: "/v1/admin-users/session", signOutPath: "/v1/admin-users/sso/sign-out" },
    home: "/console/",
  },
  portal: { session: { name: "portal", path: "/v1/portal/auth/session", signOutPath: "/v1/portal/auth/sso/sign-out" }, home: "/portal/" },
} as const;

let kept: { readonly name: keyof typeof PLANES; readonly session: Session } | null = null;

/** One session per page, because each opens a channel of its own. */
function sessionOf(name: keyof typeof PLANES): Session {
  if (kept?.name !== name) {
    kept = { name, session: new Session(PLANES[name].session) };
    void kept.session.resume();
  }
  return kept.session;
}

/** The session of the plane's own pages, and a key typed by the reader, which stays in this page's memory. */
export function useCaller({ slug }: ApiArea): PageCaller {
  const app = slug === "admin" ? "console" : "portal";
  const session = sessionOf(app);
  const signed = useSession(session);
  const [typed, type] = useState("");
  useEffect(() => session.followOtherTabs(), [session]);
  const signedInAs = signed.state === "in" ? signed.user.username : null;
  const given = typed.trim();
  const variable = slug === "admin" ? "TOKEN" : slug === "portal" ? "USER_TOKEN" : "GATEHOUSE_KEY";
  return { typed, type, signedInAs, variable, app, home: PLANES[app].home, token: async () => (given !== "" ? given : session.token()) };
}
