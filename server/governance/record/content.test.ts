import { describe, expect, test } from "bun:test";
import { previewOf, SentContent } from "./content.ts";

const CAP = 64 * 1024;

describe("a stored preview is at most 64 KiB of whole characters", () => {
  test.each([
    ["ASCII", "a", "a".repeat(CAP)],
    ["two bytes a character", "é", "é".repeat(CAP / 2)],
    ["three bytes a character", "€", "€".repeat(Math.floor(CAP / 3))],
    ["surrogate pairs", "😀", "😀".repeat(CAP / 4)],
  ])("%s", (_name, character, whole) => {
    const long = character.repeat(CAP + 1);
    expect(previewOf(long, "full") === whole).toBe(true);
    expect(previewOf(new TextEncoder().encode(long), "full") === whole).toBe(true);
  });

  test.each(["", "short", "a".repeat(CAP), "é".repeat(CAP / 2)])("what fits stays whole", (text) => {
    expect(previewOf(text, "full") === text).toBe(true);
  });
});

describe("what redaction takes out is not kept in part where the preview ends", () => {
  const SECRETS = { address: "ada.lovelace@example.co.uk", key: `sk-proj-${"k".repeat(40)}`, token: `eyJ${"h".repeat(30)}.${"p".repeat(900)}.${"s".repeat(40)}`, card: "4111 1111 1111 1111" };

  test.each(Object.entries(SECRETS))("%s", (_name, secret) => {
    for (let kept = 4; kept < secret.length; kept += Math.ceil(secret.length / 20)) {
      const text = `${"x ".repeat((CAP - kept) / 2)}${" ".repeat(kept % 2)}${secret} ${"y ".repeat(CAP)}`;
      const sent = new SentContent(true);
      for (let at = 0; at < text.length; at += 1_000) sent.add(new TextEncoder().encode(text.slice(at, at + 1_000)));
      for (const preview of [previewOf(text, "redacted"), previewOf(new TextEncoder().encode(text), "redacted"), sent.close("redacted").preview]) {
        expect(preview).not.toContain(secret.slice(0, 4));
        expect(preview?.length).toBeLessThanOrEqual(CAP);
        expect(preview?.length).toBeGreaterThan(CAP - secret.length);
      }
    }
  });

  test("a long text without any is kept up to the cap", () => {
    expect(previewOf("x ".repeat(CAP), "redacted")?.length).toBe(CAP);
    expect(previewOf(`${"x".repeat(CAP)} ${"y".repeat(100)}`, "redacted") === "x".repeat(CAP)).toBe(true);
  });
});

test("without bodies there is no preview", () => {
  expect(previewOf("text", "none")).toBeNull();
});
