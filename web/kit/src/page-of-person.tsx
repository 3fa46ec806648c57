import { Activity, type ReactNode, useState } from "react";
import type { SignedState } from "./session.ts";

/**
 * Everything that is drawn for whoever is signed in. Who signs in again after their session ended finds the page as they left it,
 * with what they were filling in; anybody else finds nothing of it.
 */
export function PageOfPerson({ session, children }: { readonly session: SignedState; readonly children: ReactNode }): ReactNode {
  const [whose, setWhose] = useState<string | null>(null);
  const now = session.state === "in" ? session.user.id : session.state === "out" && !session.ended ? null : whose;
  if (now !== whose) setWhose(now);
  if (now === null) return null;
  return (
    <Activity key={now} mode={session.state === "in" ? "visible" : "hidden"}>
      {children}
    </Activity>
  );
}
