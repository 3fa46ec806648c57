import type { TranslationOf } from "@gatehouse/web-kit/i18n.ts";
import type en from "./en.ts";

/** What every language has. */
export type PortalTexts = TranslationOf<typeof en>;
