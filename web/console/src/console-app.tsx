import { useSession } from "@gatehouse/web-kit/session.ts";
import { Skeleton } from "@gatehouse/web-kit/states.tsx";
import { Toasts } from "@gatehouse/web-kit/toast.tsx";
import { RouterProvider } from "@tanstack/react-router";
import { Activity, type ReactNode, useState } from "react";
import { adminSession } from "./admin-client.ts";
import { ConsoleSignIn } from "./pages/console-sign-in.tsx";
import { consoleRouter } from "./console-routes.tsx";

/**
 * The address stays while somebody signs in, so that a link leads where it says. Who signs in again after their session ended
 * finds the page as they left it, with what they were filling in; anybody else finds nothing of it.
 */
export function ConsoleApp(): ReactNode {
  const session = useSession(adminSession);
  const [whose, setWhose] = useState<string | null>(null);
  const now = session.state === "in" ? session.user.id : session.state === "out" && !session.ended ? null : whose;
  if (now !== whose) setWhose(now);
  if (session.state === "unknown")
    return (
      <main className="mx-auto max-w-sm pt-40">
        <Skeleton label="Loading" lines={2} />
      </main>
    );
  return (
    <>
      {session.state === "out" && <ConsoleSignIn />}
      {now !== null && (
        <Activity key={now} mode={session.state === "in" ? "visible" : "hidden"}>
          <RouterProvider router={consoleRouter} />
        </Activity>
      )}
      <Toasts dismissLabel="Dismiss" />
    </>
  );
}
