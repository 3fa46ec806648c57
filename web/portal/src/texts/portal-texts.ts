import type { TranslationOf } from "@gatehouse/web-kit/i18n.ts";
import type en from "./en.ts";

/** The texts every language must have. */
export type PortalTexts = TranslationOf<typeof en>;
