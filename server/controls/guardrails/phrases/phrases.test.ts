import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { redactText } from "../redact.ts";
import { compileTextGuard, type GuardSettings } from "../text-guard.ts";

const read = (name: string) =>
  readFileSync(new URL(`../../../../tests/corpora/intent/${name}.txt`, import.meta.url), "utf8")
    .trim()
    .split("\n");

interface Bounds {
  readonly recall: number;
  readonly falseAlarms: number;
}

/**
 * The signals were tuned on the `known` examples. The `held-out` ones were written afterwards and never tuned on, so
 * they say more. The guide states the figures; a change that makes them worse must update the guide.
 */
const CHECKS: readonly { readonly name: string; readonly settings: GuardSettings; readonly known: Bounds; readonly heldOut: Bounds }[] = [
  {
    name: "prompt-injection",
    settings: { promptInjection: { action: "warn" } },
    known: { recall: 0.82, falseAlarms: 0.007 },
    heldOut: { recall: 0.4, falseAlarms: 0 },
  },
  {
    name: "jailbreak",
    settings: { jailbreak: { action: "warn" } },
    known: { recall: 0.69, falseAlarms: 0.004 },
    heldOut: { recall: 0.53, falseAlarms: 0.019 },
  },
  {
    name: "toxic-content",
    settings: { toxicContent: { action: "warn" } },
    known: { recall: 0.83, falseAlarms: 0.007 },
    heldOut: { recall: 0.6, falseAlarms: 0.028 },
  },
];

for (const { name, settings, known, heldOut } of CHECKS) {
  for (const [set, folder, bounds] of [
    ["known", "", known],
    ["held-out", "held-out/", heldOut],
  ] as const) {
    test(`${name}: recall and false positives on the ${set} examples`, () => {
      const guard = compileTextGuard(settings);
      if ("problems" in guard) throw new Error("the guard does not compile");
      const isFound = (text: string) => redactText(guard, text).findings.length > 0;
      const positive = read(`${folder}${name}`);
      const benign = read(`${folder}benign`);
      const found = positive.filter(isFound);
      const alarms = benign.filter(isFound);
      if (process.env["SHOW"] !== undefined)
        console.log(
          [
            ...positive.filter((text) => !found.includes(text)).map((text) => `MISS ${text}`),
            ...alarms.map((text) => `FALSE ${text}`),
          ].join("\n"),
        );
      console.log(
        `${name.padEnd(16)} ${set.padEnd(8)} recall ${found.length} of ${positive.length}, false alarms ${alarms.length} of ${benign.length}`,
      );
      expect(found.length / positive.length).toBeGreaterThanOrEqual(bounds.recall);
      expect(alarms.length / benign.length).toBeLessThanOrEqual(bounds.falseAlarms);
    });
  }
}
