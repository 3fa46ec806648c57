import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PATIENCE_MS } from "../../../tests/support/patience.ts";

/** Reports that it is ready, and exits some time after releasing the cluster. */
const SLOW_TO_END = `#!/bin/sh
trap 'rm "$2/postmaster.pid"; exec sleep 0.5' INT
printf '%s\\n\\n\\n\\n\\n\\n\\nready\\n' "$$" > "$2/postmaster.pid"
while :; do sleep 0.01; done
`;

test("a process without other work waits until the server it stops has exited", () => {
  const path = mkdtempSync(join(tmpdir(), "gatehouse-postmaster-"));
  const home = { path, cluster: join(path, "cluster"), log: join(path, "postgresql.log"), account: undefined };
  mkdirSync(home.cluster);
  writeFileSync(home.log, "");
  const postgres = join(path, "postgres");
  writeFileSync(postgres, SLOW_TO_END);
  chmodSync(postgres, 0o755);
  const script = `
    import { startPostmaster } from ${JSON.stringify(join(import.meta.dirname, "postmaster.ts"))};
    const server = await startPostmaster(${JSON.stringify(home)}, { postgres: ${JSON.stringify(postgres)} }, []);
    const main = async () => { await server.stop(); console.log("stopped"); };
    void main();`;
  const { stdout, stderr } = spawnSync(process.execPath, ["-e", script], { encoding: "utf8", timeout: PATIENCE_MS });
  rmSync(path, { recursive: true });
  expect([stdout, stderr]).toEqual(["stopped\n", ""]);
});
