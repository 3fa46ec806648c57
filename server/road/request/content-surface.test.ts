import { GUARDRAIL_SURFACES, SERVED_SURFACES } from "@gatehouse/contracts/guardrails";
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { GOVERNED_ROUTES } from "../../routes.ts";
import { BATCH_ENDPOINTS } from "../../services/batch/endpoints.ts";
import { SURFACES, surfaceOf } from "./content-surface.ts";

/** Routes whose calls send nothing to a model: lists, the end of a run, spans of external calls, stored files. */
const WORDLESS = new Set([
  "run_end",
  "otel_traces",
  "discovery_events",
  "models_list",
  "model_detail",
  "gemini_models_list",
  "gemini_model_detail",
  "file_upload",
]);

test("every surface is declared once, and every call that sends text to a model belongs to one", () => {
  expect(Object.keys(SURFACES).toSorted()).toEqual([...GUARDRAIL_SURFACES].toSorted());
  expect(GUARDRAIL_SURFACES).toHaveLength(21);
  for (const { audit, body } of GOVERNED_ROUTES.filter((route) => route.audit.proxyType === "llm")) {
    const guarded = surfaceOf(audit.proxySubtype, "input") !== null;
    expect([audit.proxySubtype, guarded]).toEqual([audit.proxySubtype, body !== false && !WORDLESS.has(audit.proxySubtype)]);
  }
  // Batch lines and the responses of realtime sessions have no route.
  const subtypes = new Set([
    ...GOVERNED_ROUTES.map(({ audit }) => audit.proxySubtype),
    ...Object.values(BATCH_ENDPOINTS).map(({ subtype }) => subtype as string),
    "realtime_response",
  ]);
  for (const { subtypes: named } of Object.values(SURFACES))
    for (const subtype of named) expect([subtype, subtypes.has(subtype)]).toEqual([subtype, true]);
});

test("every answer of a tool server belongs to a surface", () => {
  const subtypes = new Set(
    GOVERNED_ROUTES.filter(
      ({ audit }) => audit.proxyType === "mcp" || audit.proxyType === "virtual_mcp" || audit.proxySubtype === "mcp_app_resource",
    ).map(({ audit }) => audit.proxySubtype),
  );
  expect(subtypes.size).toBe(5);
  for (const subtype of subtypes)
    expect([subtype, surfaceOf(subtype, "output")]).toEqual([subtype, subtype === "mcp_session_end" ? null : "mcp_output"]);
});

test("the guide names every surface", () => {
  const guide = readFileSync(new URL("../../../docs/guides/guardrails.md", import.meta.url), "utf8");
  for (const surface of GUARDRAIL_SURFACES) expect([surface, guide.includes(`\`${surface}\``)]).toEqual([surface, true]);
});

test("semantic policies may be saved for exactly the surfaces in use", () => {
  const passed = GUARDRAIL_SURFACES.filter((surface) => SURFACES[surface].subtypes.length > 0 || surface === "mcp_registration");
  expect<readonly string[]>(SERVED_SURFACES).toEqual(passed);
});
