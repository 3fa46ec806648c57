import type { Log } from "../../kernel/log.ts";
import { type Confinement, RUN_LIMITS } from "./confinement.ts";
import { usableControlGroups } from "./control-groups.ts";
import { type Interpreter, interpreters, type Language, programOn } from "./languages.ts";
import { probeConfinement } from "./probe.ts";
import { type RunOutcome, type RunTerms, runConfined } from "./run-confined.ts";
import { seccompFilter } from "./seccomp-filter.ts";
import { WorkFolder } from "./work-folder.ts";

export interface ScriptRun extends RunTerms {
  readonly language: Language;
  /** Folders of the host, below `Sandbox.folder`. */
  readonly skill: string;
  readonly input: string | null;
  /** Path within the skill. */
  readonly script: string;
  readonly args: readonly string[];
}

/**
 * Runs skill scripts, confined by bubblewrap in separate namespaces. A probe at start tries to break out; if no confinement holds, nothing
 * is run.
 */
export class Sandbox {
  private readonly work: WorkFolder;
  private readonly confinement: Confinement | null;
  private readonly languages: ReadonlyMap<Language, Interpreter>;

  private constructor(work: WorkFolder, confinement: Confinement | null, languages: ReadonlyMap<Language, Interpreter>) {
    this.work = work;
    this.confinement = confinement;
    this.languages = languages;
  }

  static async open(env: Readonly<Record<string, string | undefined>>, log: Log): Promise<Sandbox> {
    const filter = seccompFilter(process.arch);
    const work = new WorkFolder(filter);
    const languages = interpreters();
    const bash = languages.get("bash");
    const untrusted: string[] = [];
    for (const confinement of bash === undefined || filter === null ? [] : confinementsOf(env, work)) {
      const reason = await probeConfinement(confinement, bash as Interpreter, work.current());
      if (reason === null) {
        log.info("sandbox_ready", {
          kind: "bubblewrap",
          as_nobody: confinement.setpriv !== null,
          control_groups: confinement.controlGroups.length,
          languages: [...languages.keys()].join(" "),
        });
        return new Sandbox(work, confinement, languages);
      }
      untrusted.push(reason);
    }
    log.warn("sandbox_unavailable", { reason: untrusted.join("; ") || "bubblewrap is not installed" });
    return new Sandbox(work, null, languages);
  }

  /** This process's folder for files of skills and inputs of runs; world-readable, because scripts run as nobody. */
  folder(): string {
    return this.work.current();
  }

  /** The confinement's name in audit rows; null if nothing can be run. */
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
    const confinement = { ...this.confinement, filter: this.work.filterFile() };
    return runConfined(confinement, { interpreter, skill, input, argv, limits: RUN_LIMITS }, terms);
  }

  close(): void {
    this.work.remove();
  }
}

/** The ways to confine a process on this machine, best first: root switches to nobody if possible. */
function confinementsOf(env: Readonly<Record<string, string | undefined>>, work: WorkFolder): Confinement[] {
  const program = (name: string) => programOn(env.PATH ?? "/usr/bin:/bin", name) ?? programOn("/usr/bin:/bin", name);
  const bubblewrap = program("bwrap");
  if (bubblewrap === null || process.platform !== "linux") return [];
  const controlGroups = usableControlGroups();
  const setpriv = process.getuid?.() === 0 ? program("setpriv") : null;
  const plain: Confinement = { bubblewrap, setpriv: null, filter: work.filterFile(), controlGroups };
  // Process limits do not apply to the host's root, so that only a control group can enforce them.
  const bounded = process.getuid?.() !== 0 || controlGroups.some(({ limits }) => "pids.max" in limits);
  return [...(setpriv === null ? [] : [{ ...plain, setpriv }]), ...(bounded ? [plain] : [])];
}
