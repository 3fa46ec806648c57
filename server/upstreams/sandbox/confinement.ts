import { existsSync, lstatSync, readlinkSync } from "node:fs";
import type { Interpreter } from "./languages.ts";

/** How processes are confined on this machine, as verified by the probe. */
export interface Confinement {
  readonly bubblewrap: string;
  /** Used to start processes as nobody if the gateway runs as root; null if it does not, or if that does not work. */
  readonly setpriv: string | null;
  /** File with the seccomp filter. */
  readonly filter: string;
  /** Control group folders in which each run gets a group; empty if there are none. */
  readonly controlGroups: readonly ControlGroupRoot[];
}

export interface ControlGroupRoot {
  readonly folder: string;
  /** Limits by the file they are written to. */
  readonly limits: Readonly<Record<string, string>>;
}

/** Resource limits of one run. */
export interface RunLimits {
  readonly cpuSeconds: number;
  readonly processes: number;
  readonly openFiles: number;
  readonly fileBytes: number;
  readonly scratchBytes: number;
}

export const RUN_LIMITS: RunLimits = {
  cpuSeconds: 60,
  processes: 64,
  openFiles: 256,
  fileBytes: 32 * 1024 * 1024,
  scratchBytes: 64 * 1024 * 1024,
};
export const RUN_MEMORY_BYTES = 512 * 1024 * 1024;

/** Joins the control groups, becomes the first candidate for the OOM killer, and yields to the gateway. */
const OUTER = `exec 3<"$1" || exit 125; shift
echo 1000 >/proc/self/oom_score_adj
n=$1; shift
while [ "$n" -gt 0 ]; do echo $$ >"$1" || exit 125; shift; n=$((n-1)); done
exec nice -n 10 "$@"`;

/** Runs the script within its limits, then writes the files in /output to descriptor 4. */
const INNER = `ulimit -c 0; ulimit -t "$1"; ulimit -p "$2"; ulimit -n "$3"; ulimit -f "$4"; [ "$5" = 0 ] || ulimit -v "$5"
shift 5
"$@" 4>&-
code=$?
cd /output && for f in *; do
if [ -f "$f" ] && [ ! -L "$f" ]; then printf '%s\\n%s\\n' "$f" "$(wc -c <"$f")"; cat <"$f"; fi
done >&4
exit $code`;

const NOBODY = "65534";
/** The system files that programs need to run, and none that reveals anything about the host. */
const SYSTEM = ["/usr/bin", "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo", "/etc/alternatives", "/etc/ld.so.cache"];
const LINKED = ["/bin", "/lib", "/lib64"];

export interface ConfinedCommand {
  readonly interpreter: Interpreter;
  /** The folder with the skill's files, and the one with the caller's files; null if the caller gave none. */
  readonly skill: string;
  readonly input: string | null;
  readonly argv: readonly string[];
  readonly limits: RunLimits;
  /** Files to which the process writes its own ID to join its control groups. */
  readonly joins: readonly string[];
}

/** The arguments for the shell that starts the command. */
export function confinedArguments(confinement: Confinement, command: ConfinedCommand): string[] {
  const { limits, interpreter } = command;
  const asNobody =
    confinement.setpriv === null ? [] : [confinement.setpriv, `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups", "--no-new-privs"];
  return [
    "-c",
    OUTER,
    "sh",
    confinement.filter,
    String(command.joins.length),
    ...command.joins,
    ...asNobody,
    confinement.bubblewrap,
    ...bubblewrapFlags(command),
    "--",
    "/bin/sh",
    "-c",
    INNER,
    "sh",
    String(limits.cpuSeconds),
    String(limits.processes),
    String(limits.openFiles),
    String(limits.fileBytes / 512),
    String(interpreter.addressSpaceKb ?? 0),
    ...interpreter.command,
    ...command.argv,
  ];
}

function bubblewrapFlags({ interpreter, skill, input, limits }: ConfinedCommand): string[] {
  return [
    ...["--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session", "--cap-drop", "ALL"],
    // Otherwise bubblewrap ends before the first process of the namespace does and leaves it to process 1, which in a container often does
    // not reap orphans.
    "--as-pid-1",
    ...["--uid", NOBODY, "--gid", NOBODY, "--hostname", "sandbox", "--seccomp", "3", "--clearenv"],
    ...["--setenv", "PATH", "/usr/bin", "--setenv", "HOME", "/tmp", "--setenv", "LANG", "C.UTF-8"],
    ...SYSTEM.flatMap((path) => ["--ro-bind-try", path, path]),
    ...LINKED.flatMap(linkFlags),
    ...(interpreter.bind === null ? [] : ["--ro-bind", ...interpreter.bind]),
    ...[
      "--proc",
      "/proc",
      "--remount-ro",
      "/proc",
      "--dev",
      "/dev",
      "--size",
      String(16 * 1024 * 1024),
      "--tmpfs",
      "/dev/shm",
      "--remount-ro",
      "/dev",
    ],
    ...["--size", String(limits.scratchBytes), "--tmpfs", "/tmp", "--size", String(limits.scratchBytes), "--tmpfs", "/output"],
    ...["--ro-bind", skill, "/skill"],
    ...(input === null ? ["--dir", "/input"] : ["--ro-bind", input, "/input"]),
    ...["--remount-ro", "/", "--chdir", "/skill"],
  ];
}

function linkFlags(path: string): string[] {
  if (!existsSync(path)) return [];
  return lstatSync(path).isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path];
}
