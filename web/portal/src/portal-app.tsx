import { PageOfPerson } from "@gatehouse/web-kit/page-of-person.tsx";
import { useSession } from "@gatehouse/web-kit/session.ts";
import { Skeleton } from "@gatehouse/web-kit/states.tsx";
import { Toasts } from "@gatehouse/web-kit/toast.tsx";
import { RouterProvider } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { ForcedPassword } from "./pages/forced-password.tsx";
import { PortalSignIn } from "./pages/portal-sign-in.tsx";
import { ownSession } from "./portal-client.ts";
import { portalRouter } from "./portal-routes.tsx";
import { usePortalTexts } from "./translations.ts";

/** The URL does not change during sign-in, so that links lead to their page afterwards. */
export function PortalApp(): ReactNode {
  const t = usePortalTexts();
  const session = useSession(ownSession);
  if (session.state === "unknown")
    return (
      <main className="mx-auto max-w-sm px-4 pt-40">
        <Skeleton label={t("loading")} lines={2} />
      </main>
    );
  const owesPassword = session.state === "in" && session.user["must_change_password"] === true;
  return (
    <>
      {session.state === "out" && <PortalSignIn />}
      {owesPassword ? (
        <ForcedPassword />
      ) : (
        <PageOfPerson session={session}>
          <RouterProvider router={portalRouter} />
        </PageOfPerson>
      )}
      <Toasts dismissLabel={t("dismiss")} />
    </>
  );
}
