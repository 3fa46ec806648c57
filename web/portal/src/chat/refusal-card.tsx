import { formatNumber } from "@gatehouse/web-kit/formats.ts";
import { CircleSlash } from "lucide-react";
import type { ReactNode } from "react";
import { usePortalTexts } from "../translations.ts";
import type { TurnRefusal } from "./conversation.ts";

/** A refusal in place of an answer: what happened, why, by which rule, what to do, and the request ID. */
export function RefusalCard({ refusal, isPart }: { readonly refusal: TurnRefusal; readonly isPart: boolean }): ReactNode {
  const t = usePortalTexts();
  const { kind, message, rule, usage, requestId, retryAfterSeconds } = refusal;
  const title = {
    limit: t("refusedLimit"),
    policy: t("refusedPolicy"),
    approval: t("refusedApproval"),
    model: t("refusedModel"),
    provider: isPart ? t("refusedBroken") : t("refusedProvider"),
    other: isPart ? t("refusedBroken") : t("refusedOther"),
  }[kind];
  const next =
    kind === "limit"
      ? t("nextLimit")
      : kind === "policy"
        ? t("nextPolicy")
        : kind === "model"
          ? t("nextModel")
          : isPart
            ? t("nextBroken")
            : kind === "provider"
              ? t("nextProvider")
              : requestId === null
                ? null
                : t("nextOther");
  const after = retryAfterSeconds === null ? null : t("waitSeconds", { count: retryAfterSeconds });
  const todo = [next, after].filter((part) => part !== null).join(" ");
  return (
    <div role="alert" className="grid gap-1.5 rounded-xl border border-warn/50 bg-warn-soft p-4">
      <p className="flex items-center gap-2 font-semibold text-warn">
        <CircleSlash aria-hidden size={18} />
        {title}
      </p>
      <p>{message}</p>
      {rule !== null && <p className="text-sm">{t("rule", { name: rule })}</p>}
      {usage !== null && (
        <p className="text-sm">{t("usedOf", { used: formatNumber(usage.used), most: formatNumber(usage.most), group: usage.group })}</p>
      )}
      {todo !== "" && <p className="text-sm">{todo}</p>}
      {requestId !== null && (
        <p className="font-mono text-xs">
          {t("request")} {requestId}
        </p>
      )}
    </div>
  );
}
