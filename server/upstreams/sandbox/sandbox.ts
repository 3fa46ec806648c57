import { chmodSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Log } from "../../kernel/log.ts";
import { type Confinement, RUN_LIMITS } from "./confinement.ts";
import { usableControlGroups } from "./control-groups.ts";
import { type Interpreter, interpreters, type Language, programOn } from "./languages.ts";
import { probeConfinement } from "./probe.ts";
import { type RunOutcome, type RunTerms, runConfined } from "./run-confined.ts";
import { seccompFilter } from "./seccomp-filter.ts";

export interface ScriptRun extends RunTerms {
  readonly language: Language;
  /** Folders of the host as `Sandbox.folder` has them. */
  readonly skill: string;
  readonly input: string | null;
  /** Within the skill. */
  readonly script: string;
  readonly args: readonly string[];
}

const PREFIX = "gatehouse-skills-";

/**
 * Where scripts of skills run: confined by bubblewrap in namespaces of their own, once a probe at start has tried to break
 * out and failed. Where nothing that holds can be had, nothing is run.
 */
export class Sandbox {
  /** Of this process: the files of skills and what runs are given, readable to everybody as nobody has to read them. */
  readonly folder: string;
  private readonly confinement: Confinement | null;
  private readonly languages: ReadonlyMap<Language, Interpreter>;

  private constructor(folder: string, confinement: Confinement | null, languages: ReadonlyMap<Language, Interpreter>) {
    this.folder = folder;
    this.confinement = confinement;
    this.languages = languages;
  }

  static async open(env: Readonly<Record<string, string | undefined>>, log: Log): Promise<Sandbox> {
    const folder = workFolder();
    const languages = interpreters();
    const bash = languages.get("bash");
    const untrusted: string[] = [];
    for (const confinement of bash === undefined ? [] : confinementsOf(env, folder)) {
      const reason = await probeConfinement(confinement, bash as Interpreter, folder);
      if (reason === null) {
        log.info("sandbox_ready", {
          kind: "bubblewrap",
          as_nobody: confinement.setpriv !== null,
          control_groups: confinement.controlGroups.length,
          languages: [...languages.keys()].join(" "),
        });
        return new Sandbox(folder, confinement, languages);
      }
      untrusted.push(reason);
    }
    log.warn("sandbox_unavailable", { reason: untrusted.join("; ") || "bubblewrap is not installed" });
    return new Sandbox(folder, null, languages);
  }

  /** By which rows tell what a run was confined by; null where nothing is run. */
  get kind(): string | null {
    return this.confinement === null ? null : "bubblewrap";
  }

  runs(language: Language): boolean {
    return this.confinement !== null && this.languages.has(language);
  }

  run({ language, skill, input, script, args, ...terms }: ScriptRun): Promise<RunOutcome> {
    const interpreter = this.languages.get(language);
    if (this.confinement === null || interpreter === undefined) throw new Error("a script was run where nothing confines it");
    const argv = [`/skill/${script}`, ...args];
    return runConfined(this.confinement, { interpreter, skill, input, argv, limits: RUN_LIMITS }, terms);
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The ways to confine a process here, the better first: whoever is root becomes nobody. */
function confinementsOf(env: Readonly<Record<string, string | undefined>>, folder: string): Confinement[] {
  const program = (name: string) => programOn(env.PATH ?? "/usr/bin:/bin", name) ?? programOn("/usr/bin:/bin", name);
  const bubblewrap = program("bwrap");
  const filter = seccompFilter(process.arch);
  if (bubblewrap === null || filter === null || process.platform !== "linux") return [];
  const file = join(folder, "filter.bpf");
  writeFileSync(file, filter);
  const controlGroups = usableControlGroups();
  const setpriv = process.getuid?.() === 0 ? program("setpriv") : null;
  const plain: Confinement = { bubblewrap, setpriv: null, filter: file, controlGroups };
  // Limits of processes do not hold for the root of the host: then only a control group can.
  const bounded = process.getuid?.() !== 0 || controlGroups.some(({ limits }) => "pids.max" in limits);
  return [...(setpriv === null ? [] : [{ ...plain, setpriv }]), ...(bounded ? [plain] : [])];
}

/**
 * A folder of this process, and none any more of those that were killed. Only those of the same process namespace can be told
 * from the living: a gateway in a container that shares the place has numbers that mean nothing here.
 */
function workFolder(): string {
  const place = tmpdir();
  const prefix = `${PREFIX}${processNamespace()}-`;
  for (const name of readdirSync(place).filter((one) => one.startsWith(prefix))) {
    const pid = Number(name.slice(prefix.length).split("-")[0]);
    if (!isAlive(pid)) rmSync(join(place, name), { recursive: true, force: true });
  }
  const folder = mkdtempSync(join(place, `${prefix}${process.pid}-`));
  chmodSync(folder, 0o755);
  return folder;
}

/** The number Linux gives to the namespace in which processes are numbered; 0 where there are none. */
function processNamespace(): string {
  return process.platform === "linux" ? (/\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? "0") : "0";
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
