import { expect, test } from "bun:test";
import { DEFAULT_TEXTS } from "../../server/directory/notices/default-texts.ts";
import de from "../../web/portal/src/texts/de.ts";
import en from "../../web/portal/src/texts/en.ts";
import es from "../../web/portal/src/texts/es.ts";
import fr from "../../web/portal/src/texts/fr.ts";
import it from "../../web/portal/src/texts/it.ts";
import ja from "../../web/portal/src/texts/ja.ts";
import pt from "../../web/portal/src/texts/pt.ts";
import zh from "../../web/portal/src/texts/zh.ts";
import { noticePlanOf } from "../../web/portal/src/chat/notice-plan.ts";
import { sha256OfText } from "../../web/portal/src/chat/sha256.ts";
import { createHash } from "node:crypto";

const LANGUAGES = { de, en, es, fr, it, ja, pt, zh };

test("the notice that the portal falls back to is the gateway's own, in each language", () => {
  expect(Object.fromEntries(Object.entries(LANGUAGES).map(([language, { notice }]) => [language, notice]))).toEqual({ ...DEFAULT_TEXTS });
});

test("every language has the same places to fill", () => {
  const placesOf = (text: unknown) => [...JSON.stringify(text).matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  for (const [language, texts] of Object.entries(LANGUAGES))
    for (const [key, text] of Object.entries(en))
      expect([language, key, new Set(placesOf(texts[key as keyof typeof en]))]).toEqual([language, key, new Set(placesOf(text))]);
});

test("the portal's digest is SHA-256 of the UTF-8 bytes, at every length of the last block", () => {
  for (const text of [
    "",
    "a",
    ...[54, 55, 56, 57, 63, 64, 65, 119, 120, 2_000].map((length) => "x".repeat(length)),
    DEFAULT_TEXTS["ja"] ?? "",
    "👋🏽",
  ])
    expect(sha256OfText(text)).toBe(createHash("sha256").update(text).digest("hex"));
});

test("a text is found by its exact tag first, then by its base language, then it is the built-in one", () => {
  const settings = { enabled: true, surface: "banner", text: { pt: "base", "pt-BR": "exact" } };
  expect(noticePlanOf(settings, "pt-BR", "built in")).toEqual({ text: "exact", locale: "pt-BR", methods: ["banner"] });
  expect(noticePlanOf(settings, "pt-PT", "built in")).toEqual({ text: "base", locale: "pt", methods: ["banner"] });
  expect(noticePlanOf(settings, "fr", "built in")).toEqual({ text: "built in", locale: "fr", methods: ["banner"] });
});
