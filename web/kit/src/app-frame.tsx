import { CSPProvider } from "@base-ui/react/csp-provider";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { type ReactNode, StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { z } from "zod";
import { ApiError } from "./api-error.ts";
import type { Session } from "./session.ts";
import { followTheme } from "./theme.ts";

/** The content security policy forbids eval, which zod would use for speed. */
z.config({ jitless: true });

const STALE_MS = 10_000;
const RETRIES = 2;

/**
 * One per app. Retries failed connections, but not refusals. Ignores the browser's offline state, because a gateway in the local network
 * may still be reachable, and a mutation paused without feedback would look like a broken button.
 */
export const queries = new QueryClient({
  defaultOptions: {
    mutations: { networkMode: "always" },
    queries: {
      networkMode: "always",
      staleTime: STALE_MS,
      retry: (failed, error) => failed < RETRIES && (!(error instanceof ApiError) || error.status === 0 || error.status >= 502),
    },
  },
});

/** Drops cached data when the user changes or signs out. */
export function forgetBetweenPeople(session: Session): void {
  let whose: string | null = null;
  session.subscribe(() => {
    const now = session.snapshot();
    const next = now.state === "in" ? now.user.id : now.state === "out" && !now.ended ? null : whose;
    if (whose !== null && next !== whose) queries.clear();
    whose = next;
  });
}

declare const __BUILD__: string;

/** Under `npm run dev`, reloads the page after each build. */
function reloadOnBuild(): void {
  if (__BUILD__ === "") return;
  const entry = document.querySelector<HTMLScriptElement>("script[type=module]")?.src ?? "";
  setInterval(() => {
    void fetch(location.pathname)
      .then((response) => response.text())
      .then((page) => {
        if (page.includes("<script") && !page.includes(new URL(entry).pathname)) location.reload();
      })
      .catch(() => null);
  }, 1_000);
}

/** Mounts an app with the providers every part of it needs. */
export function startApp(app: ReactNode): void {
  const root = document.getElementById("root");
  if (root === null) throw new Error("the page has no root");
  followTheme();
  reloadOnBuild();
  createRoot(root).render(
    <StrictMode>
      <CSPProvider disableStyleElements>
        <QueryClientProvider client={queries}>{app}</QueryClientProvider>
      </CSPProvider>
    </StrictMode>,
  );
}
