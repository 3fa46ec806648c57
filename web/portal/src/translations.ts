import { Translations, useTexts } from "@gatehouse/web-kit/i18n.ts";
import en from "./texts/en.ts";

/** English is built in; other languages are loaded on demand. */
export const translations = new Translations<typeof en>(en, {
  de: () => import("./texts/de.ts"),
  es: () => import("./texts/es.ts"),
  fr: () => import("./texts/fr.ts"),
  it: () => import("./texts/it.ts"),
  ja: () => import("./texts/ja.ts"),
  pt: () => import("./texts/pt.ts"),
  zh: () => import("./texts/zh.ts"),
});

export const LANGUAGE_NAMES: Readonly<Record<string, string>> = {
  en: "English",
  de: "Deutsch",
  es: "Español",
  fr: "Français",
  it: "Italiano",
  ja: "日本語",
  pt: "Português",
  zh: "中文",
};

export const usePortalTexts = () => useTexts(translations);
