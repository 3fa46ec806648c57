import { Activity, type ReactNode, useState } from "react";
import type { SignedState } from "./session.ts";

/**
 * Content for the signed-in person. If the same person signs in again after the session ended, the page and its unsaved input are restored;
 * for anyone else they are discarded.
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
