import { expect, test } from "bun:test";
import { spawn } from "node:child_process";

test("a process is notified when its launcher is killed", async () => {
  const child = `
    import { onParentExit } from ${JSON.stringify(import.meta.resolve("./parent-process.ts"))};
    onParentExit(() => { console.log("alone"); process.exit(); });
    console.log("ready");
    setInterval(() => {}, 1000);
  `;
  const launcher = `
    import { spawn } from "node:child_process";
    spawn(process.execPath, ["-e", ${JSON.stringify(child)}], { stdio: "inherit", env: { ...process.env, GATEHOUSE_LAUNCHER_PID: String(process.pid) } });
    setInterval(() => {}, 1000);
  `;
  const parent = spawn(process.execPath, ["-e", launcher], { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  for await (const piece of parent.stdout) {
    said += String(piece);
    if (said === "ready\n") parent.kill("SIGKILL");
  }
  expect(said).toBe("ready\nalone\n");
});
