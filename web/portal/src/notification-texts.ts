import type { PortalNotification, ShownAlert } from "./api/portal-records.ts";
import { limitLevel } from "./usage/limit-level.ts";
import type { usePortalTexts } from "./translations.ts";

type PortalTexts = ReturnType<typeof usePortalTexts>;

/** An alert or notification in the reader's language; without a translation, the gateway's English text. */
export interface NotificationText {
  readonly title: string;
  readonly body: string;
}

type AlertedLimit = NonNullable<ShownAlert["usage_limit"]>;

interface Crossing {
  readonly type: string;
  readonly current: number;
  readonly threshold: number;
  readonly limit: AlertedLimit;
}

function whoseLimit(t: PortalTexts, { scope, group_name: group, item_name: item }: AlertedLimit): string {
  if (item !== null) return t("limitOfItem", { item, group });
  return scope === "user" ? t("limitOfEach", { group }) : group;
}

/** The limit's name in alerts, which are read later too. */
function alertedName(t: PortalTexts, type: string): string | undefined {
  const names: Readonly<Record<string, string>> = {
    daily_budget: t("alertedDailyBudget"),
    monthly_budget: t("alertedMonthlyBudget"),
    daily_tokens: t("alertedDailyTokens"),
    monthly_tokens: t("alertedMonthlyTokens"),
    daily_requests: t("alertedDailyRequests"),
    monthly_requests: t("alertedMonthlyRequests"),
  };
  return names[type];
}

/** Null if the reader's language has no name for the limit. */
function crossingText(t: PortalTexts, { type, current, threshold, limit }: Crossing): NotificationText | null {
  const name = alertedName(t, limit.limit_type);
  if (name === undefined) return null;
  const use = t("limitUse", { whose: whoseLimit(t, limit), level: limitLevel(t, limit.limit_type, current, limit.max_limit) });
  switch (type) {
    case "usage_warning":
      return { title: t("limitNear", { limit: name, percent: Math.round((threshold / limit.max_limit) * 100) }), body: use };
    case "usage_limit_reached":
      return {
        title: t("limitUsedUp", { limit: name }),
        body: `${use} ${t(current < limit.max_limit ? "limitRefusesLarge" : "limitRefuses")}`,
      };
    case "budget_exceeded":
      return { title: t("limitExceeded", { limit: name }), body: `${use} ${t("limitGoesOn")}` };
    default:
      return null;
  }
}

export function alertText(t: PortalTexts, alert: ShownAlert): NotificationText {
  const { alert_type: type, title, message, current_value: current, threshold_value: threshold, usage_limit: limit } = alert;
  const text = limit === null || current === null || threshold === null ? null : crossingText(t, { type, current, threshold, limit });
  return text ?? { title, body: message };
}

/** What a notification's `metadata` says about the call that waits or waited for approval. */
interface ApprovedCall {
  readonly requester_display: string;
  readonly capability_name: string;
  readonly server_name: string;
  readonly status?: string;
  readonly resolved?: boolean;
  readonly resolved_by?: string | null;
}

function approvalText(t: PortalTexts, type: string, approvedCall: ApprovedCall): NotificationText | null {
  const tool = approvedCall.capability_name;
  const call = { tool, server: approvedCall.server_name };
  const resolver = { ...call, who: approvedCall.resolved_by ?? t("toldAdministrator") };
  switch (type) {
    case "approval_requested":
      return { title: t("toldApprovalNeeded", { tool }), body: t("toldAsks", { ...call, who: approvedCall.requester_display }) };
    case "approval_resolved":
      return approvedCall.status === "approved"
        ? { title: t("toldApproved", { tool }), body: t("toldApprovedBy", resolver) }
        : { title: t("toldRejected", { tool }), body: t("toldRejectedBy", resolver) };
    case "approval_expired":
      return {
        title: t("toldExpired", { tool }),
        body: approvedCall.resolved === true ? t("toldUnused", resolver) : t("toldUnresolved", call),
      };
    default:
      return null;
  }
}

export function notificationText(t: PortalTexts, { notification_type: type, title, body, metadata }: PortalNotification): NotificationText {
  const { usage_limit: limit, current_value: current, threshold_value: threshold } = metadata;
  const texts =
    limit != null
      ? crossingText(t, { type, current: Number(current), threshold: Number(threshold), limit: limit as AlertedLimit })
      : "capability_name" in metadata
        ? approvalText(t, type, metadata as unknown as ApprovedCall)
        : null;
  return texts ?? { title, body };
}
