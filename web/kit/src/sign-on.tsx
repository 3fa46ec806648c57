import type { ReactNode } from "react";
import { buttonClass } from "./button.tsx";
import type { Session } from "./session.ts";

/** The identity providers offered for sign-in. */
export interface SignOnOffer {
  readonly id: string;
  readonly name: string;
  readonly start: string;
}

const MARK = "#sso=";

/** The one-time code from a single sign-on, removed from the URL, which may be stored or copied; null if there is none. */
export function takeSignOnCode(): string | null {
  if (!location.hash.startsWith(MARK)) return null;
  const code = decodeURIComponent(location.hash.slice(MARK.length));
  history.replaceState(history.state, "", location.pathname + location.search);
  return code;
}

/** With a sign-on code, the previous session is not resumed: the code belongs to whoever just signed in. */
export async function resumeUnlessSignedOn(session: Session): Promise<void> {
  if (location.hash.startsWith(MARK)) session.lost();
  else await session.resume();
}

/** One button per provider. After signing in, people return to the page they were on. */
export function SignOnOffers({
  offers,
  label,
}: {
  readonly offers: readonly SignOnOffer[];
  readonly label: (name: string) => string;
}): ReactNode {
  if (offers.length === 0) return null;
  const returnTo = encodeURIComponent(location.pathname + location.search);
  return (
    <div className="mb-6 grid gap-2 border-b border-line pb-6">
      {offers.map(({ id, name, start }) => (
        <a key={id} href={`${start}?return_to=${returnTo}`} className={buttonClass("secondary")}>
          {label(name)}
        </a>
      ))}
    </div>
  );
}
