import { expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { printExportLine } from "@gatehouse/ledger-format/export";

const LAUNCHER = fileURLToPath(new URL("../../../bin/gatehouse.mjs", import.meta.url));

test("the offline verifier leaves no files in the home, working or temporary directory", async () => {
  const root = mkdtempSync(join(tmpdir(), "gatehouse-auditor-"));
  const [home, work, temporary] = ["home", "work", "tmp"].map((name) => join(root, name)) as [string, string, string];
  for (const directory of [home, work, temporary]) mkdirSync(directory);
  const file = join(root, "chain.jsonl");
  const nothing = { head_seq: null, head_hash: null, last_checkpoint_seq: null, updated_at: null };
  writeFileSync(
    file,
    printExportLine({ type: "chain", chain_id: "c", writer: "w", first_seq: 1, exported_at: "2026-11-21T10:00:01.000000Z", ...nothing }),
  );
  const verifier = spawn("node", [LAUNCHER, "audit", "verify", file], {
    cwd: work,
    env: { PATH: process.env.PATH, HOME: home, TMPDIR: temporary },
    stdio: "ignore",
  });
  expect(await new Promise((resolve) => verifier.on("exit", resolve))).toBe(0);
  expect([home, work, temporary].flatMap((directory) => readdirSync(directory))).toEqual([]);
  rmSync(root, { recursive: true });
});
