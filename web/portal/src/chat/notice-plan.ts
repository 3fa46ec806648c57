import type { NoticeSettings } from "../api/portal-records.ts";

export type NoticeMethod = "banner" | "inline";

/** The notice to show before the first turn; null if a declared exemption says to show none. */
export interface NoticePlan {
  readonly text: string;
  readonly locale: string;
  readonly methods: readonly NoticeMethod[];
}

const SURFACES: Readonly<Record<string, readonly NoticeMethod[]>> = { banner: ["banner"], inline: ["inline"], both: ["banner", "inline"] };

function isSettings(value: unknown): value is NoticeSettings {
  if (typeof value !== "object" || value === null) return false;
  const { enabled, surface, text } = value as Record<string, unknown>;
  return (
    typeof enabled === "boolean" &&
    typeof surface === "string" &&
    surface in SURFACES &&
    (text === undefined || (typeof text === "object" && text !== null && Object.values(text).every((one) => typeof one === "string")))
  );
}

/** Unreadable settings fall back to the built-in text on both surfaces: the reader must be informed in any case. */
export function noticePlanOf(settings: unknown, locale: string, builtIn: string): NoticePlan | null {
  if (!isSettings(settings)) return { text: builtIn, locale, methods: ["banner", "inline"] };
  if (!settings.enabled && settings.exemption?.asserted === true) return null;
  const texts = settings.text ?? {};
  const base = locale.split("-")[0] ?? locale;
  const own = [locale, base].find((tag) => (texts[tag] ?? "") !== "");
  return {
    text: own === undefined ? builtIn : (texts[own] ?? builtIn),
    locale: own ?? locale,
    methods: settings.enabled ? (SURFACES[settings.surface] ?? ["banner", "inline"]) : ["banner", "inline"],
  };
}
