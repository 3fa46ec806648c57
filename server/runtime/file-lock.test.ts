import { afterAll, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LockedError, lockFile } from "./file-lock.ts";

const folder = mkdtempSync(join(tmpdir(), "gatehouse lock-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("a lock has one holder at a time, whose PID the error names", () => {
  const path = join(folder, "one");
  const lock = lockFile(path);
  expect(() => lockFile(path)).toThrow(new LockedError(path, process.pid));
  lock.release();
  lockFile(path).release();
});

test("a lock ends with its process, even when killed, and is not inherited by child processes", async () => {
  const path = join(folder, "two");
  const script = `
    import { spawn } from "node:child_process";
    import { lockFile } from ${JSON.stringify(import.meta.resolve("./file-lock.ts"))};
    lockFile(${JSON.stringify(path)});
    const child = spawn("sleep", ["60"], { detached: true, stdio: "ignore" });
    console.log(child.pid);
    setInterval(() => {}, 1000);
  `;
  const holder = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  const grandchild = Number(await new Promise((resolve) => holder.stdout.once("data", resolve)));
  expect(() => lockFile(path)).toThrow(new LockedError(path, holder.pid));
  const gone = new Promise((resolve) => holder.once("exit", resolve));
  holder.kill("SIGKILL");
  await gone;
  lockFile(path).release();
  process.kill(grandchild, "SIGKILL");
});
