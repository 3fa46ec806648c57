import { Session, useSession } from "@gatehouse/web-kit/session.ts";
import { useEffect, useState } from "react";
import type { ApiArea } from "./document/api-document.ts";

/** In whose name requests go out. */
export interface PageCaller {
  readonly typed: string;
  readonly type: (credential: string) => void;
  /** Who is signed in at the pages of this plane; null when nobody is. */
  readonly signedInAs: string | null;
  /** What a program of the reader's would have it in. */
  readonly variable: string;
  /** The app that is signed in to, and where it is. */
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

/** One for the page: each has a channel of its own. */
function sessionOf(name: keyof typeof PLANES): Session {
  if (kept?.name !== name) {
    kept = { name, session: new Session(PLANES[name].session) };
    void kept.session.resume();
  }
  return kept.session;
}

/** The session of the plane's own pages, and whatever key the reader types, which goes no further than this page's memory. */
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
