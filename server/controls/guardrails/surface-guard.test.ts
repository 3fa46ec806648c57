import { expect, test } from "bun:test";
import type { GuardrailEngineEntry, GuardrailEntry } from "../../directory/policies/guardrail-entry.ts";
import { guardOfEntries } from "./surface-guard.ts";

const withEngine = (engine: Partial<GuardrailEngineEntry>): GuardrailEntry => ({
  id: "c",
  name: "c",
  version: "1",
  groupIds: null,
  surfaces: new Set(["chat_input"]),
  builtin: {},
  engines: [{ provider: "webhook", endpoint: "https://guard.example", apiKey: null, ...engine }],
});

test("an engine with action warn enforces only if it blocks what it cannot inspect", () => {
  const enforces = (engine: Partial<GuardrailEngineEntry>) => guardOfEntries([withEngine(engine)], "chat_input")?.enforces;
  expect([
    enforces({}),
    enforces({ action: "warn" }),
    enforces({ action: "warn", on_failure: "allow" }),
    enforces({ action: "warn", on_failure: "block" }),
  ]).toEqual([true, false, false, true]);
});
