import { type ReactNode, useEffect, useRef } from "react";
import type { NoticeGate } from "./notice.ts";
import type { NoticeMethod, NoticePlan } from "./notice-plan.ts";

/** The exact text as the only text node of one element: the record contains the digest of exactly this text. */
export function NoticeText({
  plan,
  method,
  gate,
}: {
  readonly plan: NoticePlan;
  readonly method: NoticeMethod;
  readonly gate: NoticeGate;
}): ReactNode {
  const element = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    if (element.current !== null) void gate.shown(method, element.current, plan.locale);
  }, [gate, method, plan]);
  return (
    <p
      ref={element}
      lang={plan.locale}
      dir="auto"
      data-notice={method}
      className={
        method === "banner"
          ? "border-b border-line bg-accent-soft px-4 py-2 text-center text-sm text-ink"
          : "rounded-xl bg-sunken px-4 py-2.5 text-sm text-ink"
      }
    >
      {plan.text}
    </p>
  );
}
