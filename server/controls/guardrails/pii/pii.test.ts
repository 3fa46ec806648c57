import { describe, expect, test } from "bun:test";
import { personalDataInPrograms } from "../../../../tests/corpora/personal-data/in-programs.ts";
import { type PersonalDataKind, personalDataSentences } from "../../../../tests/corpora/personal-data/sentences.ts";
import { redactText } from "../redact.ts";
import { compileTextGuard, type TextGuard } from "../text-guard.ts";

function guardOf(...settings: Parameters<typeof compileTextGuard>): TextGuard {
  const guard = compileTextGuard(...settings);
  if ("problems" in guard) throw new Error(JSON.stringify(guard.problems));
  return guard;
}

const guard = guardOf({ pii: { action: "redact" } });

/** Minimum recall and precision on the labelled sentences. */
const BOUNDS: Readonly<Record<PersonalDataKind, readonly [recall: number, precision: number]>> = {
  email: [0.99, 0.99],
  credit_card: [0.99, 0.99],
  ssn: [0.99, 0.99],
  iban: [0.99, 0.99],
  phone: [0.97, 0.99],
};

test.each([
  ["in sentences of fifteen locales", (seed: number) => personalDataSentences(seed, 600)],
  ["next to field names, in tables and logs", (seed: number) => personalDataInPrograms(seed, 8_000)],
])("personal data %s is found, and similar values are not", (_, corpus) => {
  const counts = new Map(Object.keys(BOUNDS).map((kind) => [kind, { labelled: 0, found: 0, right: 0, wrong: 0 }]));
  const show = process.env["SHOW"] !== undefined;
  for (const seed of [1, 2, 3]) {
    for (const { locale, text, label } of corpus(seed)) {
      const { findings } = redactText(guard, text);
      const covered = findings.some(({ category, start, end }) => category === label?.kind && start <= label.start && end >= label.end);
      if (label !== null) {
        const count = counts.get(label.kind)!;
        count.labelled++;
        if (covered) count.found++;
        else if (show) console.log("MISS", locale, text);
      }
      for (const { category, start, end } of findings) {
        const right = category === label?.kind && start < label.end && end > label.start;
        counts.get(category)![right ? "right" : "wrong"]++;
        if (!right && show) console.log("FALSE", category, locale, text, "->", text.slice(start, end));
      }
    }
  }
  for (const [kind, [recall, precision]] of Object.entries(BOUNDS)) {
    const { labelled, found, right, wrong } = counts.get(kind)!;
    if (labelled === 0) {
      expect([kind, wrong]).toEqual([kind, 0]);
      continue;
    }
    console.log(
      `${kind.padEnd(12)} recall ${(found / labelled).toFixed(4)} of ${labelled}, precision ${(right / (right + wrong)).toFixed(4)} of ${right + wrong}`,
    );
    expect([kind, found / labelled]).toEqual([kind, expect.any(Number)]);
    expect(found / labelled).toBeGreaterThanOrEqual(recall);
    expect(right / (right + wrong)).toBeGreaterThanOrEqual(precision);
  }
});

describe("hidden values and false positives of personal data", () => {
  const cases: readonly (readonly [text: string, redacted: string])[] = [
    ["\uff14\uff15\uff13\uff19 1488 0343 6467", "[REDACTED:credit_card]"],
    [`${[..."4539148803436467"].join("\u200b")}!`, "[REDACTED:credit_card]!"],
    ["mailto:joe@example.com?subject=x", "mailto:[REDACTED:email]?subject=x"],
    ["**joe@example.com**", "**[REDACTED:email]**"],
    ["'joe@example.com'", "'[REDACTED:email]'"],
    ["git clone git@github.com:acme/app.git", "git clone git@github.com:acme/app.git"],
    ["ssh://deploy@build.example.com:22/srv", "ssh://deploy@build.example.com:22/srv"],
    ["Started user@1000.service - User Manager", "Started user@1000.service - User Manager"],
    ["y = A@B.mean()", "y = A@B.mean()"],
    ["npm install react@18.2.0", "npm install react@18.2.0"],
    ["card 4111 1111 1111 1111 12/27 123", "card [REDACTED:credit_card] 12/27 123"],
    ["0.4111111111111111", "0.4111111111111111"],
    ["1,4539148803436467.0,12.5\n2,4539148803436467.00", "1,[REDACTED:credit_card].0,12.5\n2,[REDACTED:credit_card].00"],
    ["4539148803436467.05 or 4539148803436467.0.1", "4539148803436467.05 or 4539148803436467.0.1"],
    ["id=4111111111111112", "id=4111111111111112"],
    ["078-05-1120 was printed on a wallet card", "078-05-1120 was printed on a wallet card"],
    ["part no. 123-45-6789", "part no. 123-45-6789"],
    ["IBAN DE89 3704 0044 0532 0130 00, thanks", "IBAN [REDACTED:iban], thanks"],
    ["DE89370400440532013001", "DE89370400440532013001"],
    ["2026-11-21 10:15:22 took 1234567 us", "2026-11-21 10:15:22 took 1234567 us"],
    ["call on 2026-11-21 or 21.11.2026", "call on 2026-11-21 or 21.11.2026"],
    ["tel:+14155550132", "tel:[REDACTED:phone]"],
    ["10.0.12.7 and 192.168.100.200", "10.0.12.7 and 192.168.100.200"],
  ];
  for (const [text, redacted] of cases) {
    test(text, () => expect(redactText(guard, text).text).toBe(redacted));
  }
});

test("only the enabled categories of personal data are found", () => {
  const emailOnly = guardOf({ pii: { action: "redact", categories: ["email"] } });
  expect(redactText(emailOnly, "joe@example.com 4111111111111111").text).toBe("[REDACTED:email] 4111111111111111");
});

test("a higher threshold ignores less certain findings", () => {
  const text = "415-555-0132";
  expect(redactText(guard, text).text).toBe("[REDACTED:phone]");
  expect(redactText(guardOf({ pii: { action: "redact", threshold: 0.9 } }), text).text).toBe(text);
});
