import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../gateway.ts";
import { startLasting } from "./lasting-process.ts";

test("a timed-out test does not end processes that other tests in its file need", async () => {
  const directory = await temporaryDirectory();
  const file = join(directory, "overrun.test.ts");
  writeFileSync(
    file,
    `import { spawn } from "node:child_process";
     import { beforeAll, expect, test } from "bun:test";
     import { startLasting } from ${JSON.stringify(import.meta.resolve("./lasting-process.ts"))};
     let lasting, ended;
     beforeAll(async () => {
       lasting = await startLasting(["sleep", "1000"]);
       ended = new Promise((resolve) => spawn("sleep", ["1000"]).once("exit", resolve));
     });
     test("overruns", () => new Promise(() => {}), 1);
     test("runs after the timed-out test", async () => {
       await ended;
       expect(lasting.exitCode()).toBeUndefined();
       lasting.kill("SIGTERM");
       expect(await lasting.exited).toBe(128 + 15);
     });`,
  );
  const { stderr } = spawnSync(process.execPath, ["--config=/dev/null", "test", file], { cwd: directory, encoding: "utf8" });
  expect(stderr).toContain("(fail) overruns");
  expect(stderr).toContain("(pass) runs after the timed-out test");
  rmSync(directory, { recursive: true });
});

test("output is reported by line with the exit code", async () => {
  const lines: [string, boolean][] = [];
  const command = ["sh", "-c", 'echo "of $1"; echo wrong >&2; exit 7', "sh", "two  words"] as const;
  const lasting = await startLasting(command, { onLine: (line, error) => lines.push([line, error]) });
  expect(await lasting.exited).toBe(7);
  lasting.kill("SIGKILL");
  while (lines.length < 2) await Bun.sleep(1);
  expect(lines.toSorted()).toEqual([
    ["of two  words", false],
    ["wrong", true],
  ]);
});

test("the process ends with the test process that started it", async () => {
  const script = `
    import { startLasting } from ${JSON.stringify(import.meta.resolve("./lasting-process.ts"))};
    console.log((await startLasting(["sleep", "1000"])).pid);
    process.kill(process.pid, "SIGKILL");`;
  const { stdout } = spawnSync(process.execPath, ["-e", script], { encoding: "utf8" });
  while (existsSync(`/proc/${Number(stdout)}/stat`)) await Bun.sleep(1);
});
