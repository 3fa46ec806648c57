import { readlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { reasonOf } from "../../kernel/errors.ts";
import { type Confinement, RUN_LIMITS } from "./confinement.ts";
import type { Interpreter } from "./languages.ts";
import { runConfined } from "./run-confined.ts";

/** Tries every way out that a shell has, and prints those that worked. */
const ATTEMPTS = `
bad() { echo "broken: $1"; }
cat "$1" >/dev/null 2>&1 && bad "a file of the host can be read"
cat /etc/passwd >/dev/null 2>&1 && bad "accounts of the host can be read"
(exec 5<>"/dev/tcp/127.0.0.1/$2") 2>/dev/null && bad "the network can be reached"
own=$(readlink /proc/self/ns/pid) && [ -n "$own" ] && [ "$own" != "$3" ] || bad "processes of the host can be reached"
for place in / /usr/bin /usr/lib /skill /input /dev /proc; do (: >"$place/probe") 2>/dev/null && bad "$place can be written to"; done
unshare -U true 2>/dev/null && bad "namespaces can be made"
mount -t tmpfs none /tmp 2>/dev/null && bad "file systems can be mounted"
mknod /tmp/device c 1 1 2>/dev/null && bad "devices can be made"
[ "$(id -u)" = 65534 ] || bad "it runs as somebody"
grep -q '^CapEff:[[:space:]]*0*$' /proc/self/status || bad "it has capabilities"
grep -q '^Seccomp:[[:space:]]*2$' /proc/self/status || bad "system calls are not filtered"
grep -q '^NoNewPrivs:[[:space:]]*1$' /proc/self/status || bad "it may gain privileges"
[ -n "$GATEHOUSE_PROBE" ] && bad "the environment of the gateway can be read"
echo kept >/tmp/probe && [ "$(cat /tmp/probe)" = kept ] || bad "there is no temporary folder"
echo confined`;

const DEADLINE_MS = 5_000;

/** Null if the confinement holds, else why it is not trusted. `folder`: a world-readable folder of the host. */
export async function probeConfinement(confinement: Confinement, bash: Interpreter, folder: string): Promise<string | null> {
  const secret = join(folder, "probe");
  writeFileSync(secret, "a file of the host");
  const listener = createServer((socket) => socket.destroy());
  try {
    await new Promise<void>((resolve, reject) => {
      listener.once("error", reject);
      listener.listen(0, "127.0.0.1", () => resolve());
    });
    const address = listener.address();
    const port = typeof address === "object" && address !== null ? String(address.port) : "0";
    const outcome = await runConfined(
      confinement,
      {
        interpreter: bash,
        skill: folder,
        input: null,
        // Compared by namespace, because process IDs in a container are as small as those in the sandbox.
        argv: ["-c", ATTEMPTS, "bash", secret, port, readlinkSync("/proc/self/ns/pid")],
        limits: RUN_LIMITS,
      },
      { stdin: "", deadlineMs: DEADLINE_MS, signal: new AbortController().signal },
    );
    const output = Buffer.from(outcome.stdout).toString().trim();
    if (outcome.end === "exited" && outcome.exitCode === 0 && output === "confined") return null;
    const errors = Buffer.from(outcome.stderr).toString().trim();
    return (output === "" || output === "confined" ? `${outcome.end} ${errors}` : output.replace(/\nconfined$/, "")).slice(0, 500);
  } catch (error) {
    return reasonOf(error);
  } finally {
    listener.close();
  }
}
