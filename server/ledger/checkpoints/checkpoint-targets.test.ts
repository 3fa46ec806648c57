import { expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { telemetry } from "../../kernel/telemetry/telemetry.ts";
import type { Database } from "../../store/database.ts";
import { checkpointTargets } from "./checkpoint-targets.ts";
import { recordedLog, temporaryDirectory } from "../test-support.ts";

test("a metric reports that checkpoints cannot be written to their file, until they can", async () => {
  const folder = join(temporaryDirectory(), "kept");
  const config = { auditCheckpointFile: join(folder, "checkpoints.jsonl"), auditCheckpointBucket: undefined };
  const metrics = telemetry();
  const targets = checkpointTargets(config, {} as Database, recordedLog(), metrics);
  const metric = async () => /^gatehouse_ledger_checkpoints_failing.*$/m.exec(await metrics.render())?.[0];
  const checkpoints = [{ chain_id: "01M8PYKNJQAHVXW1T61SNXXRDV", chain_seq: 1, checkpoint_no: 1, note: "signed" }];

  expect(await metric()).toBe('gatehouse_ledger_checkpoints_failing{place="file"} 0');
  targets.keep(checkpoints);
  expect(await metric()).toBe('gatehouse_ledger_checkpoints_failing{place="file"} 1');
  mkdirSync(folder);
  targets.keep(checkpoints);
  expect(await metric()).toBe('gatehouse_ledger_checkpoints_failing{place="file"} 0');
});
