import type { ReactNode } from "react";

/** Invisible characters, and those that reorder others. */
const NEVER_SEEN =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u2028-\u202E\uFFF0-\uFFFB]|(?!\u200C|\u200D|\uFE0E|\uFE0F)\p{Default_Ignorable_Code_Point}/u;
/** Persian, Hindi and emoji need joiners. In these scripts joiners have almost no effect and can hide content. */
const IDLE_JOINER =
  /(?<!(?![\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}])[\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}])[\u200C\u200D]/u;
/** A variation selector is meaningful only directly after an emoji, and only once. */
const IDLE_FORM = /(?<!\p{Emoji})[\uFE0E\uFE0F]/u;

const UNSEEN = new RegExp(`((?:${[NEVER_SEEN, IDLE_JOINER, IDLE_FORM].map(({ source }) => source).join("|")})+)`, "u");

const codeOf = (character: string) => `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;

/** Shows untrusted text with invisible characters as code points, so that people decide on exactly what they read. */
export function VisibleText({ text }: { readonly text: string }): ReactNode {
  const parts = text.split(UNSEEN);
  if (parts.length === 1) return text;
  return parts.map((part, at) =>
    // The odd parts are the matches of the regular expression.
    at % 2 === 0 ? (
      part
    ) : (
      <span key={at} dir="ltr" className="mx-0.5 rounded bg-warn-soft px-1 font-mono text-xs text-warn">
        {Array.from(part, codeOf).join(" ")}
      </span>
    ),
  );
}
