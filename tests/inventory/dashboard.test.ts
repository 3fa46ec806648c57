import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { telemetry } from "../../server/kernel/telemetry/telemetry.ts";
import { describedMetrics } from "../../server/kernel/described-metrics.ts";
import { readYaml } from "../../server/runtime/yaml.ts";

const deployed = (path: string) => readFileSync(fileURLToPath(new URL(`../../deploy/${path}`, import.meta.url)), "utf8");
const namedIn = (text: string) => new Set([...text.matchAll(/gatehouse_[a-z_]+/g)].map(([name]) => name.replace(/_bucket$/, "")));

async function metricsThereAre(): Promise<Set<string>> {
  const metrics = telemetry();
  metrics.watchLedger(() => ({
    openCalls: 0,
    unshippedBytes: 0,
    unshippedRows: 0,
    oldestUnshippedSeconds: 0,
    headSeq: 0,
    clockAheadSeconds: 0,
    writtenRows: 0,
    syncs: 0,
    syncSeconds: 0,
    shipping: true,
    failed: false,
  }));
  metrics.watchCounters(() => false);
  metrics.watchCheckpoints(() => ({}));
  metrics.watchRealtime(() => 0);
  metrics.watchProcesses(() => []);
  return new Set([...(await metrics.render()).matchAll(/^# TYPE (\S+)/gm)].map(([, name = ""]) => name));
}

test("the reference page describes each metric of a scrape", async () => {
  expect(describedMetrics().map(({ name }) => name)).toEqual([...(await metricsThereAre())].toSorted());
});

test("the dashboard uses existing metrics only, and all of the ledger's", async () => {
  const there = await metricsThereAre();
  const shown = namedIn(deployed("grafana/gatehouse.json"));
  expect([...shown].filter((name) => !there.has(name))).toEqual([]);
  expect([...there].filter((name) => name.startsWith("gatehouse_ledger_") && !shown.has(name))).toEqual([]);
});

test("the alert rules use existing metrics only, and have a severity and a summary", async () => {
  const there = await metricsThereAre();
  const text = deployed("prometheus/gatehouse-alerts.yaml");
  const { groups } = readYaml(text) as { groups: { rules: { alert: string; expr: string; labels: object; annotations: object }[] }[] };
  const rules = groups.flatMap((group) => group.rules);
  expect([...namedIn(rules.map(({ expr }) => expr).join("\n"))].filter((name) => !there.has(name))).toEqual([]);
  for (const { alert, labels, annotations } of rules) {
    expect([alert, labels]).toEqual([alert, { severity: expect.stringMatching(/^(?:critical|warning)$/) }]);
    expect(annotations).toHaveProperty("summary");
  }
});

/** Outcomes of provider attempts that are not the provider's fault. */
const NO_FAULT = [
  ...["served", "upstream_rejected", "picture_declined", "speech_declined", "context_window_exceeded", "content_filtered"],
  ...["client_disconnected", "access_ended", "gateway_interrupted"],
];

test("the alert on failing providers ignores outcomes that are not the provider's fault", () => {
  const { groups } = readYaml(deployed("prometheus/gatehouse-alerts.yaml")) as { groups: { rules: { alert: string; expr: string }[] }[] };
  const failing = groups.flatMap(({ rules }) => rules).find(({ alert }) => alert === "GatehouseProvidersFailing");
  const left = new RegExp(`^(?:${/outcome!~"([^"]*)"/.exec(failing?.expr ?? "")?.[1]})$`);
  expect([...NO_FAULT, "upstream_error", "upstream_rate_limited"].filter((outcome) => !left.test(outcome))).toEqual([
    "upstream_error",
    "upstream_rate_limited",
  ]);
});

test("the metric of the alert on refusals exists at 0 from the start", async () => {
  const { groups } = readYaml(deployed("prometheus/gatehouse-alerts.yaml")) as { groups: { rules: { alert: string; expr: string }[] }[] };
  const { expr } = groups.flatMap(({ rules }) => rules).find(({ alert }) => alert === "GatehouseAdminRefusals") ?? { expr: "" };
  const reasons = /reason=~"([^"]*)"/.exec(expr)?.[1]?.split("|") ?? [];
  expect(reasons.length).toBeGreaterThan(1);
  const text = await telemetry().render();
  for (const reason of reasons) expect(text).toContain(`gatehouse_admin_refused_total{reason="${reason}"} 0`);
});
