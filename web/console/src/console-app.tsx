import { PageOfPerson } from "@gatehouse/web-kit/page-of-person.tsx";
import { useSession } from "@gatehouse/web-kit/session.ts";
import { Skeleton } from "@gatehouse/web-kit/states.tsx";
import { Toasts } from "@gatehouse/web-kit/toast.tsx";
import { RouterProvider } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { adminSession } from "./admin-client.ts";
import { ConsoleSignIn } from "./pages/console-sign-in.tsx";
import { consoleRouter } from "./console-routes.tsx";

/** The URL does not change during sign-in, so that links lead to their page afterwards. */
export function ConsoleApp(): ReactNode {
  const session = useSession(adminSession);
  if (session.state === "unknown")
    return (
      <main className="mx-auto max-w-sm pt-40">
        <Skeleton label="Loading" lines={2} />
      </main>
    );
  return (
    <>
      {session.state === "out" && <ConsoleSignIn />}
      <PageOfPerson session={session}>
        <RouterProvider router={consoleRouter} />
      </PageOfPerson>
      <Toasts dismissLabel="Dismiss" />
    </>
  );
}
