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
import { notificationText } from "../../web/portal/src/notification-texts.ts";
import { createHash } from "node:crypto";

const LANGUAGES = { de, en, es, fr, it, ja, pt, zh };

test("the portal's fallback notice is the gateway's built-in text, in each language", () => {
  expect(Object.fromEntries(Object.entries(LANGUAGES).map(([language, { notice }]) => [language, notice]))).toEqual({ ...DEFAULT_TEXTS });
});

test("every language has the same placeholders", () => {
  const placesOf = (text: unknown) => [...JSON.stringify(text).matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  for (const [language, texts] of Object.entries(LANGUAGES))
    for (const [key, text] of Object.entries(en))
      expect([language, key, new Set(placesOf(texts[key as keyof typeof en]))]).toEqual([language, key, new Set(placesOf(text))]);
});

test("notifications of approvals and limits have all their details in every language", () => {
  const call = { approval_id: "a", requester_display: "Ada", capability_name: "delete_all", server_name: "tools" };
  const resolved = { ...call, resolved: true, resolved_by: "Ben" };
  const limit = { limit_type: "daily_tokens", max_limit: 500, scope: "user", group_name: "team", item_name: null };
  const crossed = { usage_limit: limit, threshold_value: 400, current_value: 450 };
  const told: [type: string, metadata: Record<string, unknown>, says: string[]][] = [
    ["approval_requested", call, ["Ada", "delete_all", "tools"]],
    ["approval_resolved", { ...resolved, status: "approved" }, ["Ben", "delete_all", "tools"]],
    ["approval_resolved", { ...resolved, status: "rejected" }, ["Ben", "delete_all", "tools"]],
    ["approval_expired", { ...call, status: "expired", resolved: false, resolved_by: null }, ["delete_all", "tools"]],
    ["approval_expired", { ...resolved, status: "expired" }, ["Ben", "delete_all", "tools"]],
    ["usage_warning", crossed, ["80", "450", "500", "team"]],
    ["usage_limit_reached", crossed, ["450", "500", "team"]],
    ["budget_exceeded", crossed, ["450", "500", "team"]],
  ];
  const page = globalThis as unknown as { document?: { documentElement: { lang: string } } };
  for (const [language, texts] of Object.entries(LANGUAGES)) {
    page.document = { documentElement: { lang: language } };
    const t = ((key: keyof typeof en, values: Record<string, string | number> = {}) =>
      String(texts[key]).replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]))) as Parameters<typeof notificationText>[0];
    const words = told.map(([notification_type, metadata]) =>
      notificationText(t, { notification_type, metadata, title: "as written", body: "as written" } as Parameters<
        typeof notificationText
      >[1]),
    );
    for (const [at, { title, body }] of words.entries()) {
      const [type, , says] = told[at]!;
      expect([language, type, says.filter((one) => !`${title} ${body}`.includes(one))]).toEqual([language, type, []]);
      expect(`${title} ${body}`).not.toContain("undefined");
      expect(title).not.toBe("as written");
    }
    expect(new Set(words.map(({ title, body }) => `${title} ${body}`)).size).toBe(told.length);
  }
  delete page.document;
});

test("a notification without a translation is shown as the gateway wrote it", () => {
  const t = ((key: string) => key) as Parameters<typeof notificationText>[0];
  const written = { title: "90 % of the calls per day limit is used", body: "as written" };
  const limit = { limit_type: "calls_per_day", max_limit: 10, scope: "group", group_name: "team", item_name: null };
  for (const metadata of [{}, { approval_id: "a" }, { usage_limit: limit, threshold_value: 9, current_value: 9 }])
    expect(
      notificationText(t, { notification_type: "usage_warning", metadata, ...written } as unknown as Parameters<
        typeof notificationText
      >[1]),
    ).toEqual(written);
});

test("the portal's digest is SHA-256 of the UTF-8 bytes, at every block boundary", () => {
  for (const text of [
    "",
    "a",
    ...[54, 55, 56, 57, 63, 64, 65, 119, 120, 2_000].map((length) => "x".repeat(length)),
    DEFAULT_TEXTS["ja"] ?? "",
    "👋🏽",
  ])
    expect(sha256OfText(text)).toBe(createHash("sha256").update(text).digest("hex"));
});

test("a notice text is found by its exact tag, then by its base language, else the built-in one", () => {
  const settings = { enabled: true, surface: "banner", text: { pt: "base", "pt-BR": "exact" } };
  expect(noticePlanOf(settings, "pt-BR", "built in")).toEqual({ text: "exact", locale: "pt-BR", methods: ["banner"] });
  expect(noticePlanOf(settings, "pt-PT", "built in")).toEqual({ text: "base", locale: "pt", methods: ["banner"] });
  expect(noticePlanOf(settings, "fr", "built in")).toEqual({ text: "built in", locale: "fr", methods: ["banner"] });
});
