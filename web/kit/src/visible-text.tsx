import type { ReactNode } from "react";

/**
 * Characters that turn the order of others around, and those of which nothing is seen: whoever decides by what they read would
 * decide on something else. The joiners and the emoji form stay as they are: Persian, Hindi and emoji are written with them.
 */
const UNSEEN =
  // oxlint-disable-next-line no-control-regex
  /([\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u00AD\u061C\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB]|[\u115F\u1160\u3164\uFFA0]|\u034F|[\u17B4\u17B5]|[\u180B-\u180F]|[\uFE00-\uFE0D]|[\u{E0000}-\u{E0FFF}])/u;

const codeOf = (character: string) => `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;

/** Somebody else's text as it is: a character that cannot be seen stands there by its number. */
export function VisibleText({ text }: { readonly text: string }): ReactNode {
  const parts = text.split(UNSEEN);
  if (parts.length === 1) return text;
  return parts.map((part, at) =>
    // What the expression takes out stands at every other place.
    at % 2 === 0 ? (
      part
    ) : (
      <span key={at} dir="ltr" className="mx-0.5 rounded bg-warn-soft px-1 font-mono text-xs text-warn">
        {codeOf(part)}
      </span>
    ),
  );
}
