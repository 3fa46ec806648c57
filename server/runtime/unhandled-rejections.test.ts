import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { PATIENCE_MS } from "../../tests/support/patience.ts";

test("an unhandled promise rejection is logged and does not end the process", () => {
  const at = (file: string) => JSON.stringify(join(import.meta.dirname, file));
  const script = `
    import { jsonLog } from ${at("../kernel/log.ts")};
    import { logUnhandledRejections } from ${at("unhandled-rejections.ts")};
    logUnhandledRejections(jsonLog("info"));
    void Promise.reject(new Error("nobody asked"));
    setTimeout(() => console.log("still here"), 50);`;
  const { stdout, stderr, status } = spawnSync(process.execPath, ["-e", script], { encoding: "utf8", timeout: PATIENCE_MS });
  expect(status).toBe(0);
  expect(stdout + stderr).toContain("still here");
  expect(stdout + stderr).toContain('"unhandled_rejection"');
  expect(stdout + stderr).toContain("nobody asked");
});
