import { readlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { reasonOf } from "../../kernel/errors.ts";
import { type Confinement, RUN_LIMITS } from "./confinement.ts";
import type { Interpreter } from "./languages.ts";
import { runConfined } from "./run-confined.ts";

/** Tries every way out that a shell has, and prints those that worked. Every process it starts costs each start of the gateway. */
const ATTEMPTS = `
bad() { echo "broken: $1"; }
says() { [[ $'\\n'$status =~ $'\\n'$1:[[:blank:]]*$2$'\\n' ]]; }
{ true; } 2>/dev/null <"$1" && bad "a file of the host can be read"
{ true; } 2>/dev/null </etc/passwd && bad "accounts of the host can be read"
{ true; } 2>/dev/null 5<>"/dev/tcp/127.0.0.1/$2" && bad "the network can be reached"
own=$(exec readlink /proc/self/ns/pid) && [ -n "$own" ] && [ "$own" != "$3" ] || bad "processes of the host can be reached"
for place in / /usr/bin /usr/lib /skill /input /dev /proc; do { true; } 2>/dev/null >"$place/probe" && bad "$place can be written to"; done
unshare -U true 2>/dev/null && bad "namespaces can be made"
mount -t tmpfs none /tmp 2>/dev/null && bad "file systems can be mounted"
mknod /tmp/device c 1 1 2>/dev/null && bad "devices can be made"
[ "$EUID" = 65534 ] || bad "it runs as somebody"
read -rd '' status </proc/self/status
says CapEff '0*' || bad "it has capabilities"
says Seccomp 2 || bad "system calls are not filtered"
says NoNewPrivs 1 || bad "it may gain privileges"
[ -n "$GATEHOUSE_PROBE" ] && bad "the environment of the gateway can be read"
echo kept >/tmp/probe && read -r kept </tmp/probe && [ "$kept" = kept ] || bad "there is no temporary folder"
echo confined`;

const DEADLINE_MS = 5_000;

/** Null if the confinement holds, else why it is not trusted. `folder`: a world-readable folder of the host. */
export async function probeConfinement(
  confinement: Confinement,
  bash: Interpreter,
  folder: string,
  signal: AbortSignal,
): Promise<string | null> {
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
      { stdin: "", deadlineMs: DEADLINE_MS, signal },
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
