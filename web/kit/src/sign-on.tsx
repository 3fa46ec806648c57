import type { ReactNode } from "react";
import { buttonClass } from "./button.tsx";
import type { Session } from "./session.ts";

/** Identity providers that somebody may sign in by, as the gateway offers them. */
export interface SignOnOffer {
  readonly id: string;
  readonly name: string;
  readonly start: string;
}

const MARK = "#sso=";

/** The code that a sign-in elsewhere came back with, once: it is taken out of the address, which may be kept or copied. */
export function takeSignOnCode(): string | null {
  if (!location.hash.startsWith(MARK)) return null;
  const code = decodeURIComponent(location.hash.slice(MARK.length));
  history.replaceState(history.state, "", location.pathname + location.search);
  return code;
}

/** Whoever comes with a code is who signed in elsewhere just now, not who was signed in on this browser before. */
export async function resumeUnlessSignedOn(session: Session): Promise<void> {
  if (location.hash.startsWith(MARK)) session.lost();
  else await session.resume();
}

/** A button for each. Who comes back is where they were. */
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
