import { formatNumber, formatUsd } from "@gatehouse/web-kit/formats.ts";
import type { usePortalTexts } from "../translations.ts";

/** Current and maximum value of a limit, formatted for its type. */
export function limitLevel(t: ReturnType<typeof usePortalTexts>, type: string, current: number, most: number): string {
  const shown = (value: number) => (type.endsWith("budget") ? formatUsd(value) : formatNumber(value));
  return t("level", { current: shown(current), threshold: shown(most) });
}
