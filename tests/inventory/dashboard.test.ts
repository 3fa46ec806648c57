import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { telemetry } from "../../server/kernel/telemetry.ts";

test("the dashboard shows metrics the gateway has, and every one of the ledger's", async () => {
  const metrics = telemetry();
  metrics.watchLedger(() => ({
    openCalls: 0,
    unshippedBytes: 0,
    unshippedRows: 0,
    oldestUnshippedSeconds: 0,
    headSeq: 0,
    writtenRows: 0,
    syncs: 0,
    syncSeconds: 0,
    shipping: true,
    failed: false,
  }));
  const there = new Set([...(await metrics.render()).matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
  const dashboard = readFileSync(fileURLToPath(new URL("../../deploy/grafana/gatehouse.json", import.meta.url)), "utf8");
  const shown = new Set([...dashboard.matchAll(/gatehouse_[a-z_]+/g)].map(([name]) => name.replace(/_bucket$/, "")));
  expect([...shown].filter((name) => !there.has(name))).toEqual([]);
  expect([...there].filter((name) => name?.startsWith("gatehouse_ledger_") && !shown.has(name))).toEqual([]);
});
