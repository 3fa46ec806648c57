import { CSPProvider } from "@base-ui/react/csp-provider";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { type ReactNode, StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { z } from "zod";
import { ApiError } from "./api-error.ts";
import type { Session } from "./session.ts";
import { followTheme } from "./theme.ts";

/** The pages' policy allows no code made of text, which is how zod would be faster. */
z.config({ jitless: true });

const STALE_MS = 10_000;
const RETRIES = 2;

/**
 * One for each app. What was refused is not asked again; what did not answer is. A browser that takes itself to be offline may
 * reach a gateway in its own network all the same, and a button that waits without a word for a connection seems to do nothing.
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

/** What was read for one person is nothing for the next one on this page, nor for whoever finds it signed out. */
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

/** Under `npm run dev`: loads the page anew once there is another build of it. */
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

/** Puts an app on the page, with what every part of it needs around it. */
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
